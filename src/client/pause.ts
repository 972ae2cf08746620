/** Delays and backoff. */

/** Resolves after `ms`, or when the signal aborts. */
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

/** Exponential backoff with jitter, in milliseconds: `first`, doubled for each failure, up to `most`. */
export function backoff(failures: number, first: number, most: number): number {
  return Math.min(most, first * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** The `Retry-After` of a response in milliseconds; null: none. */
export function retryAfter(response: Response): number | null {
  const header = response.headers.get('retry-after');
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
