/** Making and rotating keys, so that no key itself gets into the cache of queries and mutations. */
import type { CreatedApiKey } from 'nightshift/client';

/** A key that was just made. */
export type NewKey = Pick<CreatedApiKey, 'name' | 'key'>;

/** For a mutation, which keeps its result for some minutes: hands the key over, and has no result. */
export async function handOver(request: Promise<CreatedApiKey>, take: (made: NewKey) => void): Promise<void> {
  const { name, key } = await request;
  take({ name, key });
}
