/** A bound on how long a request may wait for Postgres: a pool that cannot connect would let it wait for ever. */

/** What was asked for did not come in time. What was sent may still happen. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}

/** `work` goes on by itself when it is late; its failure is then nobody's. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new OutOfTime(`No answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
