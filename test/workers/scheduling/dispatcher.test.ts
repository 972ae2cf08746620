// Which context a slot runs: between tenants, within one, and when slots are scarce. The model is held by the test, so
// that each job occupies its slot for as long as the test says; the order of model calls is the order of starts.
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import type { User } from '../../../src/core/access/user.ts';
import type { ContextId, TenantId } from '../../../src/core/ids.ts';
import type { ModelRequest } from '../../../src/core/model/model.ts';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { settings } from '../../core/builders.ts';
import { firstInput, postedInput } from '../../db/inputs.ts';
import { tagOf } from '../../services/statements.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

const [A, B, C] = [101, 102, 103].map((id) => id as TenantId) as [TenantId, TenantId, TenantId];

type Held = { name: string; answer: () => void };

/** Jobs are named by their input; the last line of it. */
const nameOf = ({ messages }: ModelRequest): string => {
  const text = messages.findLast(({ role }) => role === 'user')?.content.at(-1);
  return text?.type === 'text' ? text.text : '?';
};

type Setting = { fleet: Fleet; held: Held[]; started: string[] };

/** Model calls whose input begins with `hold` end when the test says so; others at once. */
async function setting(options: Partial<FleetOptions> = {}): Promise<Setting> {
  const held: Held[] = [];
  const started: string[] = [];
  const fleet = await startFleet({
    model: async (request, signal) => {
      const name = nameOf(request);
      started.push(name);
      if (name.startsWith('hold'))
        await new Promise<void>((resolve) => {
          held.push({ name, answer: resolve });
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      return signal.aborted ? { kind: 'aborted' } : says('done');
    },
    concurrency: 2,
    ...options,
  });
  onTestFinished(async () => {
    for (const { answer } of held) answer();
    await fleet.close();
  });
  await fleet.database.db.execute(sql`
    insert into tenants (id, name) select n, 't' || n from generate_series(101, 103) n`);
  return { fleet, held, started };
}

async function create(
  fleet: Fleet,
  tenantId: TenantId,
  text: string,
  priority?: number,
  config: WorkerConfig = {},
  user: User | null = null,
): Promise<ContextId> {
  const about = { tenantId, user, name: text, title: null, role: null, config, parentWorkerId: null };
  const first = { ...firstInput(text), ...(priority === undefined ? {} : { priority }) };
  const { accepted } = await fleet.perform(createWorker(fleet.ports, about, first));
  if (accepted === null) throw new Error('the worker has no job');
  return accepted.contextId;
}

/** As when all slots are taken: in the order in which they are posted. */
async function post(fleet: Fleet, tenantId: TenantId, names: readonly string[], priority?: number): Promise<void> {
  for (const name of names) await create(fleet, tenantId, name, priority);
}

async function also(fleet: Fleet, tenantId: TenantId, contextId: ContextId, text: string): Promise<void> {
  const input = { ...postedInput({ content: [{ type: 'text', text }] }), contextId, tenantId };
  await fleet.perform(submitInput(fleet.ports, input));
}

const named = (of: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${of}${n}`);

describe.each(['redis', 'deaf'] as const)('with the queue %s', (queue) => {
  test('a tenant with one context does not wait behind the backlog of another', async () => {
    const { fleet, held, started } = await setting({ queue });
    await post(fleet, A, ['hold 1', 'hold 2']);
    await fleet.until(() => held.length === 2);
    await post(fleet, A, named('a', 40));
    await post(fleet, B, ['b']);
    await post(fleet, C, ['c']);
    // A list of what waits is used for 200 ms.
    await sleep(250);
    held[0]?.answer();
    await fleet.until(() => started.length === 44);
    // The one slot goes to the three tenants in turn; the other one is held by a context of A.
    const place = (name: string) => started.indexOf(name) - 2;
    expect(place('b')).toBeLessThanOrEqual(2);
    expect(place('c')).toBeLessThanOrEqual(2);
  });

  test('a tenant gets a reserved slot while another one holds all others, and its next context after the first', async () => {
    const { fleet, held, started } = await setting({ queue, reserved: 1 });
    await post(fleet, A, ['hold 1', 'hold 2', 'hold 3']);
    await fleet.until(() => held.length === 2);
    await post(fleet, B, named('b', 5));
    await fleet.until(() => started.filter((name) => name.startsWith('b')).length === 5);
    expect(held).toHaveLength(2);
  });

  test('more tenants than reserved slots wait for one', async () => {
    const { fleet, held, started } = await setting({ queue, reserved: 1 });
    await post(fleet, A, ['hold a1', 'hold a2']);
    await fleet.until(() => held.length === 2);
    await post(fleet, B, ['hold b']);
    await fleet.until(() => held.length === 3);
    await post(fleet, C, ['c']);
    await sleep(1_500);
    expect(started).not.toContain('c');
    held[2]?.answer();
    await fleet.until(() => started.includes('c'));
  });
});

test('tenants with a backlog take turns in a reserved slot', async () => {
  const { fleet, held, started } = await setting({ reserved: 1 });
  await post(fleet, A, ['hold a1', 'hold a2']);
  await fleet.until(() => held.length === 2);
  await post(fleet, B, named('b', 6));
  await post(fleet, C, named('c', 6));
  await fleet.until(() => started.length === 14);
  const order = started.slice(2).map((name) => name[0]);
  // One list may have been read before C came.
  expect(order.slice(2, 10).filter((name) => name === 'c').length).toBeGreaterThanOrEqual(3);
  expect(order.slice(2, 10).filter((name) => name === 'b').length).toBeGreaterThanOrEqual(3);
});

test('a reserved slot runs nothing of the tenant that holds all others, if its own tenant’s context cannot run', async () => {
  let looks = 0;
  const { fleet, held, started } = await setting({
    reserved: 1,
    hook: (text) => void (tagOf(text) === 'contexts.read_runnable' && (looks += 1)),
    resolve: ({ config }) =>
      config.max_steps === 7
        ? { kind: 'unsupported', missing: ['tool look'] }
        : { kind: 'served', settings: settings({ model: { provider: 'simulated', model: 'scripted' } }) },
  });
  await post(fleet, A, ['hold a1', 'hold a2']);
  await fleet.until(() => held.length === 2);
  await post(fleet, A, ['a3', 'a4']);
  await create(fleet, B, 'odd', 5, { max_steps: 7 });
  const before = looks;
  await fleet.until(() => looks >= before + 3);
  expect(started).toEqual(['hold a1', 'hold a2']);
});

test('within a tenant, the highest priority is first, and then the oldest', async () => {
  const { fleet, held, started } = await setting({ concurrency: 1 });
  await post(fleet, A, ['hold']);
  await fleet.until(() => held.length === 1);
  await post(fleet, A, ['old', 'older than'], 5);
  await post(fleet, A, ['last'], 9);
  await post(fleet, A, ['first'], 1);
  // A list is used for 200 ms.
  await sleep(250);
  held[0]?.answer();
  await fleet.until(() => started.length === 5);
  expect(started).toEqual(['hold', 'first', 'old', 'older than', 'last']);
});

/** Counts the lists that are read. */
async function withLists(options: Partial<FleetOptions>): Promise<Setting & { nextList: () => Promise<void> }> {
  let lists = 0;
  const made = await setting({
    ...options,
    hook: (text) => void (tagOf(text) === 'contexts.read_runnable' && (lists += 1)),
  });
  // The next one may have been read before.
  const nextList = async () => {
    const before = lists;
    await made.fleet.until(() => lists >= before + 2);
  };
  return { ...made, nextList };
}

test('users of a tenant take turns, however much one of them has waiting', async () => {
  const { fleet, held, started, nextList } = await withLists({ concurrency: 1 });
  await post(fleet, A, ['hold']);
  await fleet.until(() => held.length === 1);
  for (const name of named('ann', 30)) await create(fleet, A, name, 1, {}, 'ann' as User);
  for (const name of named('bob', 3)) await create(fleet, A, name, 9, {}, 'bob' as User);
  await post(fleet, A, named('nameless', 3));
  await nextList();
  held[0]?.answer();
  await fleet.until(() => started.length === 37);
  const first = started.slice(1, 10).map((name) => name.replace(/\d+$/, ''));
  for (const user of ['ann', 'bob', 'nameless']) expect(first.filter((name) => name === user)).toHaveLength(3);
});

test('a context with many inputs leaves its slot between two jobs, when another user of its tenant waits', async () => {
  const { fleet, held, started, nextList } = await withLists({ concurrency: 2 });
  const contextId = await create(fleet, A, 'hold', 5, {}, 'ann' as User);
  await create(fleet, A, 'hold too', 5, {}, 'ann' as User);
  await fleet.until(() => held.length === 2);
  for (const name of named('a', 30)) await also(fleet, A, contextId, name);
  await create(fleet, A, 'b', 5, {}, 'bob' as User);
  await nextList();
  held.find(({ name }) => name === 'hold')?.answer();
  await fleet.until(() => started.length === 33);
  expect(started.indexOf('b')).toBeLessThanOrEqual(4);
});

test('one sweep starts the whole backlog of a user, as far as slots are free, beside what other users have', async () => {
  let sweeps = 0;
  const { fleet, held } = await setting({
    queue: 'deaf',
    concurrency: 60,
    times: { sweepMs: 5_000 },
    hook: (text) => void (tagOf(text) === 'contexts.take_due' && (sweeps += 1)),
  });
  for (const name of named('hold ', 50)) await create(fleet, A, name, 5, {}, 'ann' as User);
  await create(fleet, A, 'hold b', 5, {}, 'bob' as User);
  const before = sweeps;
  await fleet.query(`update contexts set next_check_at = now() - interval '1 second'`);
  await fleet.until(() => held.length === 51);
  expect(sweeps - before).toBeLessThanOrEqual(1);
});

test('a context with many inputs leaves its slot between two jobs, when another tenant waits', async () => {
  const { fleet, held, started } = await setting({ concurrency: 1 });
  const contextId = await create(fleet, A, 'hold');
  await fleet.until(() => held.length === 1);
  for (const name of named('a', 30)) await also(fleet, A, contextId, name);
  await post(fleet, B, ['b']);
  // Looks for other tenants that wait happen every half second.
  await sleep(1_200);
  held[0]?.answer();
  await fleet.until(() => started.length === 32);
  expect(started.indexOf('b')).toBeLessThanOrEqual(3);
});

test('a context that may have killed a process is read after the commit of its claim, so that the claim counts', async () => {
  const sent: (string | null)[] = [];
  const { fleet, held, started } = await setting({
    concurrency: 1,
    hook: (text) => void sent.push(tagOf(text) ?? text),
  });
  await post(fleet, A, ['hold']);
  await fleet.until(() => held.length === 1);
  await post(fleet, A, ['suspect']);
  await fleet.query(`insert into processes (id, lock_key, host, pid, version, tools, roles, models, started_at, dead_at)
    values (gen_random_uuid(), 1, 'h', 1, '0', '{}', '{}', '{}', now(), now() + interval '2 seconds')`);
  // A list is used for 200 ms.
  await sleep(250);
  sent.length = 0;
  held[0]?.answer();
  await fleet.until(() => started.length === 2);
  const ofClaim = sent.filter((tag) => tag !== null && /^(contexts\.claim|mailbox\.read|commit)$/.test(tag));
  expect(ofClaim.slice(0, 3)).toEqual(['contexts.claim', 'commit', 'mailbox.read']);
  await fleet.atRest();
  expect(await fleet.query(`select max(failed_claims)::int as most from contexts`)).toEqual([{ most: 0 }]);
});

test('a tenant’s whole backlog is started by one sweep, as far as slots are free', async () => {
  let sweeps = 0;
  const { fleet, held } = await setting({
    queue: 'deaf',
    concurrency: 100,
    times: { sweepMs: 5_000 },
    hook: (text) => void (tagOf(text) === 'contexts.take_due' && (sweeps += 1)),
  });
  await post(fleet, A, named('hold ', 90));
  const before = sweeps;
  await fleet.query(`update contexts set next_check_at = now() - interval '1 second'`);
  await fleet.until(() => held.length === 90);
  expect(sweeps - before).toBeLessThanOrEqual(1);
});

test('once no slot is scarce any more, wake-ups claim at once again, without a list', async () => {
  let lists = 0;
  const { fleet, started } = await setting({
    concurrency: 2,
    hook: (text) => void (tagOf(text) === 'contexts.read_runnable' && (lists += 1)),
    // No sweep comes between.
    times: { sweepMs: 600_000 },
  });
  await post(fleet, A, named('a', 20));
  await fleet.until(() => started.length === 20);
  await fleet.noWakeUps();
  // A process counts as busy for a tenth of a second.
  await sleep(150);
  const before = lists;
  for (const name of named('later', 5)) {
    await post(fleet, A, [name]);
    await fleet.until(() => started.includes(name));
    await fleet.atRest();
  }
  expect(lists).toBe(before);
});

test('a wake-up is not lost when the list cannot be read', async () => {
  let fails = false;
  const { fleet, held, started } = await setting({
    concurrency: 1,
    times: { sweepMs: 600_000 },
    hook: (text) => {
      if (!fails || tagOf(text) !== 'contexts.read_runnable') return;
      fails = false;
      throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
    },
  });
  await post(fleet, A, ['hold']);
  await fleet.until(() => held.length === 1);
  await post(fleet, A, ['next']);
  await sleep(250);
  fails = true;
  held[0]?.answer();
  await fleet.until(() => started.includes('next'));
});

test('a new worker’s context has the priority of its first input, and later the highest one', async () => {
  const { fleet } = await setting({ queue: 'deaf', times: { sweepMs: 600_000 } });
  const contextId = await create(fleet, A, 'hold', 7);
  const priority = async () => (await fleet.query(`select priority from contexts where id = '${contextId}'`))[0];
  expect(await priority()).toEqual({ priority: 7 });
  const input = { ...postedInput({ priority: 3 }), contextId, tenantId: A };
  await fleet.perform(submitInput(fleet.ports, input));
  expect(await priority()).toEqual({ priority: 3 });
  await fleet.perform(submitInput(fleet.ports, { ...input, priority: 9 }));
  expect(await priority()).toEqual({ priority: 3 });
});
