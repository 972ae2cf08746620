/** Work in many transactions, a few at once, so that other work finds free connections. */
import pMap from 'p-map';

const CONCURRENCY = 4;

/** One failure does not keep the other items from being worked on; it is thrown once all are done. */
export async function mapConcurrent<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  try {
    return await pMap(items, work, { concurrency: CONCURRENCY, stopOnError: false });
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}
