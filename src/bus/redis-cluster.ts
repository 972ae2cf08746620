/** Asks a Redis server whether it is a node of a cluster. */
import { Redis } from 'ioredis';

/**
 * How long to wait for the answer, in milliseconds. After that the server counts as a single Redis, so that an
 * unavailable Redis does not delay the start.
 */
const ASKED_MS = 2_000;

export async function isCluster(url: string): Promise<boolean> {
  const redis = new Redis(url, { connectTimeout: ASKED_MS, maxRetriesPerRequest: null, lazyConnect: true });
  redis.on('error', () => undefined);
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, ASKED_MS, '');
  try {
    const info = await Promise.race([redis.info('cluster').catch(() => ''), late]);
    return /^cluster_enabled:1\s*$/m.test(info);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}
