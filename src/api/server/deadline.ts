/** Timeouts for requests that wait for PostgreSQL: a pool that cannot connect would wait forever. */

/** The result did not arrive in time. A statement that was sent may still take effect. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}

/** After the timeout, `work` continues in the background and its errors are ignored. */
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
