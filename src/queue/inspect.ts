/** Inspects a Redis server without changing anything. */
import { Redis } from 'ioredis';

const ASKED_WITHIN_MS = 5_000;

type RedisSight = {
  version: string;
  /** Null: the server does not report it, as is usual for managed ones. */
  policy: string | null;
  cluster: boolean;
};

/** Throws if the server cannot be reached. */
export async function inspectRedis(url: string): Promise<RedisSight> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ASKED_WITHIN_MS,
    commandTimeout: ASKED_WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let fault: unknown = null;
  redis.on('error', (error) => (fault = error));
  try {
    await redis.connect();
    const info = await redis.info();
    const policy: unknown = await redis.config('GET', 'maxmemory-policy').catch(() => null);
    return {
      version: /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown',
      policy: Array.isArray(policy) && typeof policy[1] === 'string' ? policy[1] : null,
      cluster: /^cluster_enabled:1\s*$/m.test(info),
    };
  } catch (error) {
    throw fault ?? error;
  } finally {
    redis.disconnect();
  }
}
