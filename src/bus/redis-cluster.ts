/** Whether a Redis is a node of a cluster: it says so itself. */
import { Redis } from 'ioredis';

/** How long it is asked before it counts as a single one, in milliseconds. Nobody starts later for a Redis that is away. */
const ASKED_MS = 2_000;

export async function isCluster(url: string): Promise<boolean> {
  const redis = new Redis(url, { connectTimeout: ASKED_MS, maxRetriesPerRequest: null, lazyConnect: true });
  redis.on('error', () => undefined);
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, ASKED_MS, '');
  try {
    const said = await Promise.race([redis.info('cluster').catch(() => ''), late]);
    return /^cluster_enabled:1\s*$/m.test(said);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}
