// Redis fails in the middle of work, briefly or for long, or never existed: everything continues by itself, nothing is
// lost, nothing is sent or done twice, and accepted inputs are answered exactly once.
import { Redis } from 'ioredis';
import { afterAll, afterEach, expect, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { expectEndInTime } from './terminated-in-outage.ts';
import { expectBalanced, startLedger } from './ledger.ts';
import {
  CALLS,
  LONG,
  SCRIPT,
  atEnd,
  endAll,
  expectGoodLogs,
  expectOnce,
  openPlatform,
  redis,
  say,
  sharedRedis,
} from './outage-platform.ts';
import { until } from '../rig/until.ts';

/** Inputs that are accepted between two faults. */
const SOME = depth(6, 20);
const FLUSHES = depth(2, 5);

const server = sharedRedis();
afterEach(endAll);
afterAll(() => server.remove());

test('without Redis from the start jobs run, wait, are cancelled, and end', LONG, async () => {
  const nowhere = 'redis://127.0.0.1:1';
  const platform = await openPlatform({ redisUrl: nowhere });
  const { client, environment } = platform;
  const begun = performance.now();
  const contexts = await Promise.all(
    Array.from({ length: 10 }, () => client.createContext({ model: 'simulated/default' })),
  );
  const posted = await Promise.all(contexts.map(({ id }) => client.post(id, 'say: here')));
  for (const { job_id: id } of posted) expect(await client.ended(id)).toMatchObject({ status: 'completed' });
  say(`without Redis: 10 jobs in ${Math.round(performance.now() - begun)} ms`);
  const { id } = await client.createContext({ model: 'simulated/default' });
  const long = await client.post(id, 'wait: 1h');
  const parked = await client.createContext({ model: 'simulated/default' });
  const waiting = await client.post(parked.id, 'fail: rate_limited retry-after 2100ms times 1\nsay: all in good time');
  await until('the job to run', async () => (await client.job(long.job_id)).status === 'running');
  expect(await client.cancel(long.job_id, 10_000)).toMatchObject({ status: 'cancelled' });
  expect(await client.ended(waiting.job_id)).toMatchObject({ status: 'completed', attempt: 2 });
  expect(await client.status('/readyz')).toBe(200);
  await environment.settled();
  expectGoodLogs(platform);
});

test.skipIf(!redis)('Redis killed, flushed and paused in the middle of work costs nothing but time', LONG, async () => {
  const service = await server.get();
  const platform = await openPlatform({ redisUrl: service.url });
  const ledger = await startLedger(platform, { contexts: 6, script: SCRIPT });
  const admin = new Redis(service.url, { maxRetriesPerRequest: 0, retryStrategy: () => 100 });
  admin.on('error', () => undefined);
  atEnd(async () => admin.disconnect());
  await ledger.more(SOME);
  for (let flushed = 0; flushed < FLUSHES; flushed += 1) {
    await admin.flushall();
    await ledger.more(6);
  }
  await service.kill();
  await ledger.more(SOME);
  await service.start();
  await ledger.more(SOME);
  await service.pause();
  await ledger.more(SOME);
  await service.resume();
  await ledger.more(SOME);
  await ledger.stop();
  await platform.environment.settled();
  say(`Redis in trouble: ${ledger.accepted.size} inputs accepted, ${JSON.stringify([...ledger.answers])}`);
  expect([...ledger.answers.keys()]).toEqual([202]);
  expect(await expectBalanced(platform.environment, ledger, CALLS)).toBe(0);
  expectOnce(platform.environment);
  expectGoodLogs(platform);
});

test.skipIf(!redis)('processes that are terminated while Redis is silent end in time', LONG, async () => {
  const service = await server.get();
  await expectEndInTime(service, { redisUrl: service.url }, SOME);
});
