/** A bound on waiting for what may never answer. */

/** Rejects with `TimedOut` after `ms`; `work` goes on by itself, its failure unheard. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`No answer within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export class TimedOut extends Error {
  override name = 'TimedOut';
}
