/** Runs work in many transactions, a few at once, so that other work finds free connections. */
const CONCURRENT_COMMANDS = 4;

/** Rejects with the first error. Work that is in progress then continues. */
export async function mapConcurrent<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const runner = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENT_COMMANDS }, runner));
}
