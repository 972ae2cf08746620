// Requests of a tenant in a second: counted over all API processes on Redis, and by each process while Redis is away.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { localRates, redisRates } from '../../src/bus/request-rates.ts';
import type { RequestRates } from '../../src/core/access/quotas.ts';
import { startSilentProxy } from '../e2e/outages/silent-proxy.ts';
import { startOwnRedis } from '../services/own-redis.ts';
import { testPrefix } from '../services/prefix.ts';
import { runRedis } from './installation.ts';

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Two processes, connected. */
async function twoProcesses(url: string): Promise<RequestRates[]> {
  const prefix = testPrefix();
  const rates = [0, 1].map(() => redisRates(url, prefix, () => undefined));
  ends.push(() => rates.forEach((one) => one.close()));
  await expect.poll(() => areShared(rates), { timeout: 5_000, interval: 20 }).toBe(true);
  return rates;
}

let keys = 0;

/** Whether the counts of a new key go on from one process to the other. */
async function areShared(rates: readonly RequestRates[]): Promise<boolean> {
  const key = `tenant-${(keys += 1)}`;
  const counts: number[] = [];
  for (const one of rates) counts.push((await one.count(key)).count);
  return counts.join() === '1,2';
}

test('two processes count together, each tenant by itself, and begin again after a second', async () => {
  const url = runRedis();
  if (url === null) return;
  const rates = await twoProcesses(url);
  const counted = await Promise.all(Array.from({ length: 10 }, async (_, at) => rates[at % 2]?.count('a')));
  expect(counted.map((one) => one?.count).toSorted((one, other) => Number(one) - Number(other))).toEqual(
    Array.from({ length: 10 }, (_, at) => at + 1),
  );
  expect((await rates[0]?.count('b'))?.count).toBe(1);
  const { endsInMs = 0 } = (await rates[0]?.count('a')) ?? {};
  expect(endsInMs).toBeGreaterThan(0);
  expect(endsInMs).toBeLessThanOrEqual(1_000);
  await sleep(endsInMs + 20);
  expect((await rates[1]?.count('a'))?.count).toBe(1);
});

test('while Redis is down each process counts for itself, at once; when it is back, together again', async () => {
  const redis = await startOwnRedis();
  if (redis === null) return;
  ends.push(() => redis.remove());
  const rates = await twoProcesses(redis.url);
  await redis.kill();
  await expect.poll(() => areShared(rates), { timeout: 5_000 }).toBe(false);
  const before = performance.now();
  const key = 'down';
  expect(await Promise.all(rates.map(async (one) => (await one.count(key)).count))).toEqual([1, 1]);
  expect(performance.now() - before).toBeLessThan(500);
  await redis.start();
  await expect.poll(() => areShared(rates), { timeout: 20_000, interval: 100 }).toBe(true);
});

test('a Redis that does not answer delays a request by no more than a moment', async () => {
  const url = runRedis();
  if (url === null) return;
  const proxy = await startSilentProxy(url);
  ends.push(() => proxy.close());
  const rates = await twoProcesses(proxy.url);
  proxy.silence();
  const [one] = rates;
  const times: number[] = [];
  for (let request = 0; request < 8; request += 1) {
    const before = performance.now();
    await one?.count('silent');
    times.push(performance.now() - before);
    await sleep(200);
  }
  expect(Math.max(...times)).toBeLessThan(1_000);
  // The connection was given up.
  expect(Math.min(...times.slice(-3))).toBeLessThan(100);
});

test('without Redis the process counts', async () => {
  const rates = localRates();
  expect([(await rates.count('a')).count, (await rates.count('a')).count, (await rates.count('b')).count]).toEqual([
    1, 2, 1,
  ]);
});
