/** Waiting, and how long. */

/** Resolves after `ms`, or as soon as the signal is raised. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** Milliseconds before the attempt after `failures` of them: doubled each time, up to `most`, and never in step with others. */
export function backoff(failures: number, first: number, most: number): number {
  return Math.min(most, first * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** Milliseconds that an answer asks to wait; null: it does not say. */
export function retryAfter(response: Response): number | null {
  const said = response.headers.get('retry-after');
  if (said === null) return null;
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
