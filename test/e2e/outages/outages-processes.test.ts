// Processes and connections fail in the middle of work, briefly or permanently: everything continues by itself, nothing
// is lost, nothing is sent or done twice, and accepted inputs are answered exactly once.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseId, type ContextId } from '../../../src/core/ids.ts';
import { depth } from '../../services/depth.ts';
import type { Child } from '../rig/children.ts';
import { expectBalanced, startLedger } from './ledger.ts';
import {
  CALLS,
  LONG,
  SCRIPT,
  SHORT_LEASE,
  atEnd,
  endAll,
  expectGoodLogs,
  expectOnce,
  SHORT_REQUEST,
  openPlatform,
  openPlatformOn,
  redis,
  say,
  type OutagePlatform,
} from './outage-platform.ts';
import { readOutside } from '../outside/outside-tools.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { startSilentProxy } from './silent-proxy.ts';
import { insist } from '../rig/client.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { history, transcript } from '../rig/stored.ts';
import { until } from '../rig/until.ts';

/** Inputs that are accepted between two faults. */
const SOME = depth(6, 20);
/** Of the API process. */
const KILLS = depth(2, 3);
/** Contexts of a worker process that is stopped. */
const OWNED = depth(8, 20);
/** Long jobs that outlive several workers. */
const CONTEXTS = depth(12, 100);
const STEPS = depth(10, 16);
const DEATHS = depth(2, 4);

describe.skipIf(!redis)('on one platform with the times of production', () => {
  let platform: OutagePlatform;
  beforeAll(async () => {
    platform = await openPlatform({});
  });
  afterAll(endAll);

  test('workers that are killed again and again lose nothing, and are replaced within seconds', LONG, async () => {
    const { environment, client, env } = platform;
    const script = Array.from(
      { length: STEPS },
      (_, step) => `say: step ${step}\nwait: 1200ms\ncall: look {}\ncall: mail {"before_ms": 30}`,
    ).join('\n---\n');
    const contexts = await Promise.all(
      Array.from({ length: CONTEXTS }, () => client.createContext({ model: 'simulated/default', tools: CALLS })),
    );
    const posted = await Promise.all(contexts.map(({ id }) => client.post(id, `${script}\n---\nsay: done`)));
    const resumed: number[] = [];
    for (let deaths = 0; deaths < DEATHS; deaths += 1) {
      const [victim] = platform.workers;
      if (victim === undefined) throw new Error('no worker');
      resumed.push(...(await killed(environment, victim)));
      platform.workers.shift();
      platform.workers.push(await startWorker(env));
    }
    for (const { job_id: id } of posted) {
      expect(await client.ended(id)).toMatchObject({ status: 'completed', steps: STEPS + 1 });
    }
    await environment.settled();
    say(`killed workers: ${spread(resumed)}`);
    expect(resumed.length).toBeGreaterThan((CONTEXTS * DEATHS) / 4);
    let unknown = 0;
    for (const { job_id: id } of posted) {
      const [row] = await environment.query(`select context_id from jobs where id = '${id}'`);
      const lines = await linesOf(environment, String(row?.['context_id']));
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
    say(`killed workers: ${unknown} of ${CONTEXTS * STEPS} outcomes unknown`);
    expectGoodLogs(platform);
    expectOnce(environment);
  });

  test('an API process is killed in the middle of requests: accepted inputs are answered', LONG, async () => {
    const ledger = await startLedger(platform, { contexts: 8, script: SCRIPT });
    for (let killed = 0; killed < KILLS; killed += 1) {
      await ledger.more(SOME);
      platform.api.signal('SIGKILL');
      await platform.api.exited;
      platform.api = (await startApi(platform.env)).child;
    }
    await ledger.more(SOME);
    await ledger.stop();
    await platform.environment.settled();
    expect(await expectBalanced(platform.environment, ledger, CALLS)).toBe(0);
    expectGoodLogs(platform);
    say(
      `API killed ${KILLS} times: ${ledger.accepted.size} inputs accepted, ${ledger.answers.get(0) ?? 0} requests broke`,
    );
    expectOnce(platform.environment);
  });
});

describe.skipIf(!redis)('on a platform with a short lease', () => {
  afterEach(endAll);

  test('a worker that was stopped beyond its lease learns that it is dead and starts nothing', LONG, async () => {
    const platform = await openPlatform({}, SHORT_LEASE);
    const { environment, client, workers } = platform;
    const config = { model: 'simulated/default', tools: CALLS };
    const script = 'call: look {"before_ms": 8000}\n---\ncall: mail {"before_ms": 20}\n---\nsay: done';
    const create = () => insist(() => client.createContext(config));
    const contexts = await Promise.all(Array.from({ length: OWNED }, create));
    const posted = await Promise.all(contexts.map(({ id }) => insist(() => client.post(id, script, id))));
    // They need not share the contexts equally: the one that has some is stopped.
    const owners = () =>
      environment.query('select p.id, p.pid from contexts c join processes p on p.id = c.lease_owner');
    await until('all to be worked on', async () => (await owners()).length === posted.length);
    const [row] = await owners();
    const zombie = workers.find(({ pid }) => pid === row?.['pid']);
    if (zombie === undefined) throw new Error('no worker');
    zombie.signal('SIGSTOP');
    await until('the other one to take over', async () => {
      const owned = await environment.query(`select 1 from contexts where lease_owner = '${String(row?.['id'])}'`);
      return owned.length === 0;
    });
    const seen = zombie.lines.length;
    zombie.signal('SIGCONT');
    await zombie.says(/declared dead: it registers again/);
    await until('it to be up again', () => zombie.lines.slice(seen).some((line) => /worker process is up/.test(line)));
    for (const { job_id: id } of posted)
      expect(await client.ended(id)).toMatchObject({ status: 'completed', steps: 3 });
    await environment.settled();
    for (const { context_id: id } of posted) {
      const [context] = await environment.query(`select id from contexts where id = '${id}'`);
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
    expectOnce(environment);
    const mails = readOutside(environment.file('outside')).filter(
      ({ what, name }) => what === 'effect' && name === 'mail',
    );
    expect(mails).toHaveLength(OWNED);
    expectGoodLogs(platform, /declared dead|ending all runs/);
  });

  test('connections that went silent permanently are given up, and work continues over new ones', LONG, async () => {
    const environment = await openEnvironment();
    atEnd(() => environment.close());
    const proxy = await startSilentProxy(environment.env['DATABASE_URL'] ?? '');
    atEnd(() => proxy.close());
    const platform = await openPlatformOn(environment, {
      DATABASE_URL: proxy.url,
      ...SHORT_LEASE,
      ...SHORT_REQUEST,
    });
    const ledger = await startLedger(platform, { contexts: 6, script: SCRIPT });
    await ledger.more(SOME);
    proxy.silence();
    const begun = performance.now();
    await ledger.more(2 * SOME);
    say(
      `after the silence of all connections: ${2 * SOME} inputs accepted within ${Math.round(performance.now() - begun)} ms`,
    );
    await ledger.stop();
    await environment.settled();
    const unknown = await expectBalanced(environment, ledger, CALLS);
    say(`connections gone silent: ${ledger.accepted.size} inputs accepted, ${unknown} outcomes unknown`);
    expectOnce(environment);
  });
});

function transcriptOf(messages: readonly { role: string }[]): string[] {
  return messages.map(({ role }) => role);
}

/** Kills a worker. For each of its contexts: how long until another process owned it, in milliseconds. */
async function killed(environment: TestEnvironment, victim: Child): Promise<number[]> {
  await until('it to own something', async () => (await ownedBy(environment, victim)).length > 0);
  const owned = new Map((await ownedBy(environment, victim)).map(({ id, epoch }) => [id, epoch]));
  const resumed: number[] = [];
  victim.signal('SIGKILL');
  const begun = performance.now();
  await until('all of them to be resumed', async () => {
    const rows = await environment.query(
      `select id, scheduling_status, lease_epoch from contexts where lease_owner is not null or scheduling_status = 'idle'`,
    );
    for (const row of rows) {
      const epoch = owned.get(String(row['id']));
      if (epoch === undefined) continue;
      const again = Number(row['lease_epoch']) > epoch;
      // Its job may have ended right before the fault.
      if (again || row['scheduling_status'] === 'idle') owned.delete(String(row['id']));
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

async function ownedBy(environment: TestEnvironment, worker: Child): Promise<{ id: string; epoch: number }[]> {
  const rows = await environment.query(`
    select c.id, c.lease_epoch from contexts c join processes p on p.id = c.lease_owner where p.pid = ${worker.pid}`);
  return rows.map((row) => ({ id: String(row['id']), epoch: Number(row['lease_epoch']) }));
}

async function linesOf(environment: TestEnvironment, contextId: string): Promise<string[]> {
  const rows = await environment.query(`select id from contexts where id = '${contextId}'`);
  expect(rows).toHaveLength(1);
  const id = parseId<ContextId>(contextId);
  if (id === null) throw new Error('no id');
  return transcript(await history(environment.ports.database.db, id));
}
