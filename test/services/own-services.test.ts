// The services that fault tests break: they come back at the same address, with their data.
import { Redis } from 'ioredis';
import type postgres from 'postgres';
import { expect, test } from 'vitest';
import { connected } from './connected.ts';
import { startOwnPostgres } from './own-postgres.ts';
import { startOwnRedis } from './own-redis.ts';

async function count(url: string, connectTimeoutS = 30): Promise<number> {
  const hit = async (sql: postgres.Sql): Promise<number> => {
    await sql`CREATE TABLE IF NOT EXISTS hits (at timestamptz)`;
    await sql`INSERT INTO hits VALUES (now())`;
    return (await sql`SELECT * FROM hits`).length;
  };
  return connected(url, hit, { connectTimeoutS });
}

test('a PostgreSQL can be stopped, killed and paused', async () => {
  const service = await startOwnPostgres();
  try {
    expect(await count(service.url)).toBe(1);
    await service.stop();
    await expect(count(service.url)).rejects.toThrow();
    await service.start();
    expect(await count(service.url)).toBe(2);
    await service.kill();
    await expect(count(service.url)).rejects.toThrow();
    await service.start();
    expect(await count(service.url)).toBe(3);
    await service.pause();
    await expect(count(service.url, 1)).rejects.toThrow(/CONNECT_TIMEOUT/);
    await service.resume();
    expect(await count(service.url)).toBe(4);
  } finally {
    await service.remove();
  }
});

test('a Redis can be stopped, killed and paused', async (context) => {
  const service = await startOwnRedis();
  if (service === null) return context.skip('this run has no Redis');
  const redis = new Redis(service.url, { commandTimeout: 5_000, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  try {
    expect(await redis.incr('hits')).toBe(1);
    await service.kill();
    await expect(redis.incr('hits')).rejects.toThrow();
    await service.start();
    await answering(redis);
    expect(await redis.get('hits')).toBeNull();
    await service.stop();
    await service.start();
    await answering(redis);
    await service.pause();
    await expect(redis.incr('hits')).rejects.toThrow(/timed out/);
    await service.resume();
    await answering(redis);
  } finally {
    redis.disconnect();
    await service.remove();
  }
});

async function answering(redis: Redis): Promise<void> {
  await expect.poll(() => redis.ping().catch(() => '')).toBe('PONG');
}
