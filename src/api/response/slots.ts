/** Limits concurrency: at most `count` tasks run at once, the others wait in order. */
type Slots = <T>(work: () => Promise<T>) => Promise<T>;

export function openSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
