/** Work in many transactions, a few at once: connections are left to others. */
const CONCURRENT_COMMANDS = 4;

/** Rejects with the first that fails; what is under way then goes on. */
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
