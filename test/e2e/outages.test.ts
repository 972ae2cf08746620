// Services and processes go away in the middle of work, for a moment or for long: everything goes on by itself, nothing
// is lost, nothing is said or done twice, and what was accepted is answered exactly once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, expect, inject, test } from 'vitest';
import { parseId } from '../../src/core/ids.ts';
import type { ContextId } from '../../src/core/ids.ts';
import { startOwnPostgres } from '../services/own-postgres.ts';
import { startOwnRedis } from '../services/own-redis.ts';
import type { OwnService } from '../services/own-service.ts';
import { killChildren } from './children.ts';
import type { Child } from './children.ts';
import type { Client } from './client.ts';
import { expectBalanced, startLedger } from './ledger.ts';
import { readOutside } from './outside-tools.ts';
import { startSilentProxy } from './silent-proxy.ts';
import { startApi, startWorker } from './platform.ts';
import type { Env } from './platform.ts';
import { openStage } from './stage.ts';
import type { Own, Stage } from './stage.ts';
import { history, transcript } from './stored.ts';
import { until } from './until.ts';

const LONG = { timeout: 180_000 };
const CALLS = ['look', 'mail'];
/** Long enough that something is under way whenever a blow comes. */
const SCRIPT = 'wait: 100ms\ncall: look {"before_ms": 50}\ncall: mail {"before_ms": 100, "after_ms": 50}';
/** Of the long jobs that outlive several workers. */
const STEPS = 16;
/** A lease that no outage outlasts, even where a busy machine takes its time to end it. */
const LONG_LEASE: Env = { NIGHTSHIFT_LEASE_MS: '45000', NIGHTSHIFT_REQUEST_MS: '1500' };
/** A lease that a test can outwait. */
const SHORT_LEASE: Env = {
  NIGHTSHIFT_LEASE_MS: '3000',
  NIGHTSHIFT_MISSED_MS: '900',
  NIGHTSHIFT_REQUEST_MS: '1500',
};

const redis = inject('redisUrl') !== null;
const ending: (() => Promise<void>)[] = [];

afterEach(async () => {
  await killChildren();
  for (const end of ending.splice(0).reverse()) await end();
});

type House = { stage: Stage; env: Env; client: Client; api: Child; workers: Child[] };

async function openHouse(own: Own, more: Env = {}): Promise<House> {
  const stage = await openStage(own);
  ending.push(() => stage.close());
  return openHouseOn(stage, more);
}

async function openHouseOn(stage: Stage, more: Env): Promise<House> {
  const env: Env = {
    ...stage.env,
    NIGHTSHIFT_CONFIG: 'test/e2e/outside.config.ts',
    OUTSIDE: stage.file('outside'),
    LOG_LEVEL: 'info',
    ...more,
  };
  const workers = await Promise.all([startWorker(env), startWorker(env)]);
  const api = await startApi(env);
  return { stage, client: api.client, api: api.child, env: api.env, workers };
}

async function ownRedis(): Promise<OwnService> {
  const service = await startOwnRedis();
  if (service === null) throw new Error('this run has no Redis');
  ending.push(() => service.remove());
  return service;
}

async function ownPostgres(): Promise<OwnService> {
  const service = await startOwnPostgres();
  ending.push(() => service.remove());
  return service;
}

/**
 * Logs at their usual level hold no word of what was said, whatever broke, and no error but those that the outage
 * explains.
 */
function expectGoodLogs(house: House, explained: RegExp = /^$/): void {
  const lines = [house.api, ...house.workers].flatMap((child) => child.lines);
  expect(lines.filter((line) => /before_ms|answered input|all in good time/.test(line))).toEqual([]);
  expect(lines.filter((line) => /"level":[56]0/.test(line) && !explained.test(line))).toEqual([]);
}

/** Each `once` call began at most once in the outside world. */
function expectOnce(stage: Stage): void {
  const begun = readOutside(stage.file('outside')).filter(
    (line) => line.what === 'begin' && line.name === 'mail',
  );
  expect(begun.map(({ key }) => key).sort()).toEqual([...new Set(begun.map(({ key }) => key))].sort());
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

test('without Redis from the start jobs run, wait, are cancelled, and end', LONG, async () => {
  const nowhere = 'redis://127.0.0.1:1';
  const house = await openHouse({ redisUrl: nowhere });
  const { client, stage } = house;
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
  const waiting = await client.post(
    parked.id,
    'fail: rate_limited retry-after 2100ms times 1\nsay: all in good time',
  );
  await until('the job to run', async () => (await client.job(long.job_id)).status === 'running');
  expect(await client.cancel(long.job_id, 10_000)).toMatchObject({ status: 'cancelled' });
  expect(await client.ended(waiting.job_id)).toMatchObject({ status: 'completed', attempt: 2 });
  expect(await client.status('/readyz')).toBe(200);
  await stage.settled();
  expectGoodLogs(house);
});

test.skipIf(!redis)(
  'Redis killed, flushed and paused in the middle of work costs nothing but time',
  LONG,
  async () => {
    const service = await ownRedis();
    const house = await openHouse({ redisUrl: service.url });
    const ledger = await startLedger(house.client, { contexts: 6, script: SCRIPT });
    const admin = new Redis(service.url, { maxRetriesPerRequest: 0, retryStrategy: () => 100 });
    admin.on('error', () => undefined);
    ending.push(async () => admin.disconnect());
    await ledger.more(10);
    for (let flushed = 0; flushed < 5; flushed += 1) {
      await admin.flushall();
      await ledger.more(8);
    }
    await service.kill();
    await ledger.more(20);
    await service.start();
    await ledger.more(20);
    await service.pause();
    await ledger.more(20);
    await service.resume();
    await ledger.more(20);
    await ledger.stop();
    await house.stage.settled();
    say(`Redis in trouble: ${ledger.accepted.size} inputs accepted, ${JSON.stringify([...ledger.answers])}`);
    expect([...ledger.answers.keys()]).toEqual([202]);
    expect(await expectBalanced(house.stage, ledger, CALLS)).toBe(0);
    expectOnce(house.stage);
    expectGoodLogs(house);
  },
);

test.skipIf(!redis)(
  'Postgres restarted and killed in the middle: the API says so, and everything goes on',
  LONG,
  async () => {
    const service = await ownPostgres();
    const house = await openHouse({ databaseUrl: service.url }, LONG_LEASE);
    const ledger = await startLedger(house.client, { contexts: 6, script: SCRIPT });
    for (const blow of ['stop', 'kill'] as const) {
      await ledger.more(20);
      await service[blow]();
      await until(
        'the API to say that Postgres is away',
        async () => (await house.client.status('/readyz')) === 503,
      );
      await until('a refused input', () => (ledger.answers.get(503) ?? 0) > 0);
      ledger.answers.delete(503);
      await service.start();
      const begun = performance.now();
      await ledger.more(1);
      say(`after ${blow}: the next input was accepted ${Math.round(performance.now() - begun)} ms later`);
    }
    await ledger.more(20);
    await ledger.stop();
    await house.stage.settled();
    expect([...ledger.answers.keys()].filter((status) => ![202, 503].includes(status))).toEqual([]);
    const unknown = await expectBalanced(house.stage, ledger, CALLS);
    say(`Postgres restarted twice: ${ledger.accepted.size} inputs accepted, ${unknown} outcomes unknown`);
    expectOnce(house.stage);
    expect(house.workers.map((worker) => worker.ended())).toEqual([null, null]);
    expectGoodLogs(house);
  },
);

test.skipIf(!redis)(
  'Postgres silent for less than the lease: every run goes on where it was',
  LONG,
  async () => {
    const service = await ownPostgres();
    const house = await openHouse({ databaseUrl: service.url }, LONG_LEASE);
    const ledger = await startLedger(house.client, { contexts: 6, script: SCRIPT });
    await ledger.more(20);
    await service.pause();
    await until('the API to give up', async () => (ledger.answers.get(503) ?? 0) > 0);
    await sleep(1_500);
    await service.resume();
    await ledger.more(20);
    await ledger.stop();
    await house.stage.settled();
    expect(await expectBalanced(house.stage, ledger, CALLS)).toBe(0);
    expectOnce(house.stage);
    expectGoodLogs(house);
  },
);

test.skipIf(!redis)(
  'Postgres silent for longer than the lease: runs are let go, and taken up again once',
  LONG,
  async () => {
    const service = await ownPostgres();
    const house = await openHouse({ databaseUrl: service.url }, SHORT_LEASE);
    const ledger = await startLedger(house.client, { contexts: 6, script: SCRIPT });
    await ledger.more(20);
    await service.pause();
    await Promise.all(house.workers.map((worker) => worker.says(/letting all runs go|a beat was missed/)));
    await sleep(Number(SHORT_LEASE['NIGHTSHIFT_LEASE_MS']) + 1_000);
    await service.resume();
    const begun = performance.now();
    await ledger.more(20);
    say(`after the silence: 20 inputs accepted within ${Math.round(performance.now() - begun)} ms`);
    await ledger.stop();
    await house.stage.settled();
    const unknown = await expectBalanced(house.stage, ledger, CALLS);
    say(
      `Postgres silent beyond the lease: ${ledger.accepted.size} inputs accepted, ${unknown} outcomes unknown`,
    );
    expectOnce(house.stage);
    expectGoodLogs(house, /declared dead|letting all runs go/);
  },
);

test.skipIf(!redis)(
  'a worker that was stopped beyond its lease finds itself dead and begins nothing',
  LONG,
  async () => {
    const house = await openHouse({}, SHORT_LEASE);
    const { stage, client, workers } = house;
    const config = { model: 'simulated/default', tools: CALLS };
    const script = 'call: look {"before_ms": 8000}\n---\ncall: mail {"before_ms": 20}\n---\nsay: done';
    const contexts = await Promise.all(Array.from({ length: 20 }, () => client.createContext(config)));
    const posted = await Promise.all(contexts.map(({ id }) => client.post(id, script)));
    // Nothing says that they share alike: the one that has something is stopped.
    const owners = () =>
      stage.query('select p.id, p.pid from contexts c join processes p on p.id = c.lease_owner');
    await until('all to be worked on', async () => (await owners()).length === posted.length);
    const [row] = await owners();
    const zombie = workers.find(({ pid }) => pid === row?.['pid']);
    if (zombie === undefined) throw new Error('no worker');
    zombie.signal('SIGSTOP');
    await until('the other one to take over', async () => {
      const owned = await stage.query(`select 1 from contexts where lease_owner = '${String(row?.['id'])}'`);
      return owned.length === 0;
    });
    const seen = zombie.lines.length;
    zombie.signal('SIGCONT');
    await zombie.says(/declared dead: starting over/);
    await until('it to be up again', () =>
      zombie.lines.slice(seen).some((line) => /worker process is up/.test(line)),
    );
    for (const { job_id: id } of posted)
      expect(await client.ended(id)).toMatchObject({ status: 'completed', steps: 3 });
    await stage.settled();
    for (const { context_id: id } of posted) {
      const [context] = await stage.query(`select id from contexts where id = '${id}'`);
      expect(context).toBeDefined();
      expect(transcriptOf(await client.messages(id))).toEqual([
        'user',
        'assistant',
        'tool',
        'assistant',
        'tool',
        'assistant',
      ]);
    }
    expectOnce(stage);
    const mails = readOutside(stage.file('outside')).filter(
      ({ what, name }) => what === 'effect' && name === 'mail',
    );
    expect(mails).toHaveLength(20);
    expectGoodLogs(house, /declared dead|letting all runs go/);
  },
);

function transcriptOf(messages: readonly { role: string }[]): string[] {
  return messages.map(({ role }) => role);
}

test.skipIf(!redis)(
  'workers that are killed again and again lose nothing, and are made up for within seconds',
  LONG,
  async () => {
    const house = await openHouse({});
    const { stage, client, env } = house;
    const script = Array.from(
      { length: STEPS },
      (_, step) => `say: step ${step}\nwait: 1200ms\ncall: look {}\ncall: mail {"before_ms": 30}`,
    ).join('\n---\n');
    const contexts = await Promise.all(
      Array.from({ length: 100 }, () => client.createContext({ model: 'simulated/default', tools: CALLS })),
    );
    const posted = await Promise.all(contexts.map(({ id }) => client.post(id, `${script}\n---\nsay: done`)));
    const resumed: number[] = [];
    for (let deaths = 0; deaths < 4; deaths += 1) {
      const [victim] = house.workers;
      if (victim === undefined) throw new Error('no worker');
      resumed.push(...(await killed(stage, victim)));
      house.workers.shift();
      house.workers.push(await startWorker(env));
    }
    for (const { job_id: id } of posted) {
      expect(await client.ended(id)).toMatchObject({ status: 'completed', steps: STEPS + 1 });
    }
    await stage.settled();
    say(`killed workers: ${spread(resumed)}`);
    expect(resumed.length).toBeGreaterThan(100);
    let unknown = 0;
    for (const { job_id: id } of posted) {
      const [row] = await stage.query(`select context_id from jobs where id = '${id}'`);
      const lines = await linesOf(stage, String(row?.['context_id']));
      expect(lines.slice(1).map((line) => line.replace(/ ← .*/, ''))).toEqual([
        ...Array.from({ length: STEPS }, (_, step) => [
          `a1 assistant: step ${step} →look →mail`,
          'a1 tool: look',
          'a1 tool: mail',
        ]).flat(),
        'a1 assistant: done',
      ]);
      unknown += lines.filter((line) => line.endsWith('unknown')).length;
    }
    say(`killed workers: ${unknown} of ${100 * STEPS} outcomes unknown`);
    expectGoodLogs(house);
    expectOnce(stage);
  },
);

/** Kills a worker. For each context it had: how long until another one had it, in milliseconds. */
async function killed(stage: Stage, victim: Child): Promise<number[]> {
  await until('it to own something', async () => (await ownedBy(stage, victim)).length > 0);
  const owned = new Map((await ownedBy(stage, victim)).map(({ id, epoch }) => [id, epoch]));
  const resumed: number[] = [];
  victim.signal('SIGKILL');
  const begun = performance.now();
  await until('all of them to be taken up', async () => {
    const rows = await stage.query(
      `select id, status, lease_epoch from contexts where lease_owner is not null or status = 'idle'`,
    );
    for (const row of rows) {
      const epoch = owned.get(String(row['id']));
      if (epoch === undefined) continue;
      const again = Number(row['lease_epoch']) > epoch;
      // Its job may have ended in the moment before the blow.
      if (again || row['status'] === 'idle') owned.delete(String(row['id']));
      if (again) resumed.push(performance.now() - begun);
    }
    return owned.size === 0;
  });
  return resumed;
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `${times.length} contexts resumed, median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`;
}

async function ownedBy(stage: Stage, worker: Child): Promise<{ id: string; epoch: number }[]> {
  const rows = await stage.query(`
    select c.id, c.lease_epoch from contexts c join processes p on p.id = c.lease_owner where p.pid = ${worker.pid}`);
  return rows.map((row) => ({ id: String(row['id']), epoch: Number(row['lease_epoch']) }));
}

async function linesOf(stage: Stage, contextId: string): Promise<string[]> {
  const rows = await stage.query(`select id from contexts where id = '${contextId}'`);
  expect(rows).toHaveLength(1);
  const id = parseId<ContextId>(contextId);
  if (id === null) throw new Error('no id');
  return transcript(await history(stage.ports.database.db, id));
}

test.skipIf(!redis)(
  'an API process killed in the middle of requests: what it accepted is answered',
  LONG,
  async () => {
    const house = await openHouse({});
    const ledger = await startLedger(house.client, { contexts: 8, script: SCRIPT });
    for (let killed = 0; killed < 3; killed += 1) {
      await ledger.more(15);
      house.api.signal('SIGKILL');
      await house.api.exited;
      house.api = (await startApi(house.env)).child;
    }
    await ledger.more(10);
    await ledger.stop();
    await house.stage.settled();
    expect(await expectBalanced(house.stage, ledger, CALLS)).toBe(0);
    expectGoodLogs(house);
    say(
      `API killed three times: ${ledger.accepted.size} inputs accepted, ${ledger.answers.get(0) ?? 0} requests broke`,
    );
    expectOnce(house.stage);
  },
);

test.skipIf(!redis)(
  'connections that went silent for good are given up, and work goes on over new ones',
  LONG,
  async () => {
    const stage = await openStage();
    ending.push(() => stage.close());
    const proxy = await startSilentProxy(stage.env['DATABASE_URL'] ?? '');
    ending.push(() => proxy.close());
    const house = await openHouseOn(stage, { DATABASE_URL: proxy.url, ...SHORT_LEASE });
    const ledger = await startLedger(house.client, { contexts: 6, script: SCRIPT });
    await ledger.more(20);
    proxy.silence();
    const begun = performance.now();
    await ledger.more(30);
    say(
      `after the silence of all connections: 30 inputs accepted within ${Math.round(performance.now() - begun)} ms`,
    );
    await ledger.stop();
    await stage.settled();
    const unknown = await expectBalanced(stage, ledger, CALLS);
    say(`connections gone silent: ${ledger.accepted.size} inputs accepted, ${unknown} outcomes unknown`);
    expectOnce(stage);
  },
);

test.skipIf(!redis).each(['Postgres', 'Redis'] as const)(
  'processes told to end while %s is silent end in their time',
  LONG,
  async (which) => {
    const service = which === 'Redis' ? await ownRedis() : await ownPostgres();
    const own: Own = which === 'Redis' ? { redisUrl: service.url } : { databaseUrl: service.url };
    const house = await openHouse(own, { NIGHTSHIFT_DRAIN_MS: '2000', NIGHTSHIFT_REQUEST_MS: '1500' });
    const { stage, client } = house;
    const ledger = await startLedger(client, { contexts: 4, script: SCRIPT });
    await ledger.more(12);
    await service.pause();
    const begun = performance.now();
    const ends = [house.api, ...house.workers].map(async (child) => {
      child.signal('SIGTERM');
      const end = await child.exited;
      return { ...end, ms: performance.now() - begun };
    });
    const late = sleep(20_000).then(() => null);
    const ended = await Promise.all(ends.map((end) => Promise.race([end, late])));
    say(
      `${which} silent: ended in ${ended.map((end) => (end === null ? 'no time' : `${Math.round(end.ms)} ms`)).join(', ')}`,
    );
    await service.resume();
    expect(ended.map((end) => end?.code)).toEqual([0, 0, 0]);
    await ledger.abandon();
    const worker = await startWorker(house.env);
    await stage.settled();
    await expectBalanced(stage, ledger, CALLS);
    expectOnce(stage);
    worker.signal('SIGTERM');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
  },
);
