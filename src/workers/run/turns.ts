/** Work of the same key is done one after the other, in the order in which it came. Other keys do not wait for it. */
export function createTurns<Key>(): <Result>(key: Key, work: () => Promise<Result>) => Promise<Result> {
  const latest = new Map<Key, Promise<unknown>>();
  return async (key, work) => {
    const before = latest.get(key);
    const own = after(before, work);
    latest.set(key, own);
    try {
      return await own;
    } finally {
      if (latest.get(key) === own) latest.delete(key);
    }
  };
}

async function after<Result>(before: Promise<unknown> | undefined, work: () => Promise<Result>): Promise<Result> {
  // Its failure is told to its own caller.
  await before?.catch(() => undefined);
  return work();
}
