/**
 * Counts requests in windows of a second: over all processes on Redis, and within this process while Redis is away. Only
 * tenants and API keys with a limit are counted; until the first request of one there is no connection to Redis.
 */
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { WINDOW_S, type RequestRates } from '../core/access/quotas.ts';
import { openCounters } from './redis-connections.ts';

/** More requests than a window can have: what is too many is decided by who asks. */
const ANY_NUMBER = 1_000_000_000;
const WINDOW = { points: ANY_NUMBER, duration: WINDOW_S };

/** Within this process. */
export function localRates(): RequestRates {
  return { count: counterOf(new RateLimiterMemory(WINDOW)), close: () => undefined };
}

/** `prefix`: of all keys. */
export function redisRates(
  url: string,
  prefix: string,
  onError: (error: Error) => void,
  cluster = false,
): RequestRates {
  let opened: { count: RequestRates['count']; close(): void } | null = null;
  const open = () => {
    const redis = openCounters(url, cluster, onError);
    const limiter = new RateLimiterRedis({
      ...WINDOW,
      storeClient: redis,
      keyPrefix: `${prefix}:requests`,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(WINDOW),
    });
    return { count: counterOf(limiter), close: () => redis.disconnect() };
  };
  return {
    count: (key) => (opened ??= open()).count(key),
    close: () => opened?.close(),
  };
}

function counterOf(limiter: RateLimiterMemory | RateLimiterRedis): RequestRates['count'] {
  return async (key) => {
    const { consumedPoints: count, msBeforeNext: endsInMs } = await limiter.consume(key);
    return { count, endsInMs };
  };
}
