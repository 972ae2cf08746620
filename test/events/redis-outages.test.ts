// The bus during Redis outages: down, back, or open and dead. Streams lose time, never an event.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { redisBus } from '../../src/bus/redis.ts';
import { startSilentProxy } from '../e2e/outages/silent-proxy.ts';
import { until } from '../e2e/rig/until.ts';
import { startOwnRedis } from '../services/own-redis.ts';
import { testPrefix } from '../services/prefix.ts';
import { openInstallation, runRedis } from './installation.ts';
import { addUp, numbered, type SseClient } from './sse-client.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function hasAll(client: SseClient): void {
  const ids = numbered(client.received).map(({ id }) => id);
  expect(ids).toEqual(ids.map((_, at) => at + 1));
}

test('a Redis that is killed and comes back costs no event', async () => {
  const redis = await startOwnRedis();
  if (redis === null) return;
  ends.push(() => redis.remove());
  const installation = await openInstallation({ apis: 2, workers: 2, redisUrl: redis.url });
  ends.push(() => installation.close());
  const { id } = await installation.client.createContext({});
  const clients = await Promise.all([0, 1].map((api) => installation.listen(id, { after: 0 }, api)));
  const jobs: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { job_id: jobId } = await installation.client.post(
      id,
      'tokens: 60 over 500ms\ncall: look {}\nthen:\nsay: done',
    );
    jobs.push(jobId);
    if (round === 1) {
      await clients[0]?.until(({ event, data }) => event === 'JobStarted' && data.job_id === jobId);
      await redis.kill();
      await installation.client.ended(jobId);
      await redis.start();
    }
    await installation.client.ended(jobId);
  }
  const stored = new Map(
    (await installation.client.messages(id)).map((message) => [
      message.id,
      message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    ]),
  );
  for (const client of clients) {
    for (const job of jobs) await client.until(({ event, data }) => event === 'JobFinished' && data.job_id === job);
    hasAll(client);
    for (const [message, { text }] of addUp(client.received)) expect(text).toBe(stored.get(message));
    client.close();
  }
});

test('a connection that is open and dead is given up, and events missed on it are read afterwards', async () => {
  const url = runRedis();
  if (url === null) return;
  const proxy = await startSilentProxy(url);
  ends.push(() => proxy.close());
  const prefix = testPrefix();
  const faults: string[] = [];
  const behind = redisBus(proxy.url, prefix, (error) => faults.push(error.message));
  const beside = redisBus(url, prefix, () => undefined);
  ends.push(
    () => beside.close(),
    () => behind.close(),
  );
  const channel = { name: 'something' };
  const arrived: object[] = [];
  let lost = 0;
  await behind.subscribe(channel, (message) => arrived.push(message));
  behind.onLost(() => (lost += 1));
  await until('it to be received', async () => {
    beside.publish(channel, { before: true });
    await sleep(20);
    return arrived.length > 0;
  });
  lost = 0;
  proxy.silence();
  await until('the bus to notice', () => lost > 0);
  expect(faults.some((fault) => fault.includes('received no message'))).toBe(true);
  arrived.length = 0;
  await until('it to be received again', async () => {
    beside.publish(channel, { after: true });
    await sleep(20);
    return arrived.length > 0;
  });
  expect(arrived[0]).toEqual({ after: true });
  const published: object[] = [];
  await beside.subscribe(channel, (message) => published.push(message));
  await until('it to speak again', async () => {
    behind.publish(channel, { spoken: true });
    await sleep(20);
    return published.length > 0;
  });
});

test('streams and long polls continue while the connection of the API is dead', async () => {
  const url = runRedis();
  if (url === null) return;
  const proxy = await startSilentProxy(url);
  ends.push(() => proxy.close());
  const installation = await openInstallation({ workers: 1, redisUrl: proxy.url });
  ends.push(() => installation.close());
  const { id } = await installation.client.createContext({});
  const client = await installation.listen(id, { after: 0 });
  const first = await installation.client.post(id, 'say: one');
  await client.until(({ event, data }) => event === 'JobFinished' && data.job_id === first.job_id);
  proxy.silence();
  const second = await installation.client.post(id, 'say: two');
  expect((await installation.client.job(second.job_id, 30_000)).status).toBe('completed');
  await client.until(({ event, data }) => event === 'JobFinished' && data.job_id === second.job_id);
  hasAll(client);
  client.close();
});
