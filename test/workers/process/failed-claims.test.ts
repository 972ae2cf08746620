// A context that kills every process that reads it, for example by answers that crash a parser, and one whose history
// is too long to be read. After the first death it is read only once its claim has committed, so every death counts.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import { readBranch, readHistories, readHistory } from '../../../src/db/run/history.ts';
import { places } from '../../../src/db/run/places.ts';
import { ReadLimitExceeded } from '../../../src/db/connection/read-limit.ts';
import { revoke } from '../../../src/db/run/due-contexts.ts';
import { unregister } from '../../../src/db/processes/processes.ts';
import { Registry } from '../../../src/workers/process/registry.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import type { WorkerState } from '../../../src/workers/process/ports.ts';
import { given, type Given } from '../../db/database-fixture.ts';
import { slotsOf, sweep, together, workerState } from '../../db/worker-state.ts';
import { tagOf } from '../../services/statements.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

/** A worker process; `onStatement` receives every statement before it is sent. */
async function startProcess(onStatement: (text: string) => Promise<void> | void, slots = 1) {
  const id = await the.process();
  const database = the.open({ max: 2, hook: onStatement });
  const state = together({
    ...workerState(the),
    database,
    registry: new Registry(),
    slots: slotsOf(slots),
    identity: () => id,
  });
  const die = async () => {
    state.registry.loseAll();
    await database.close(0);
    await unregister(the.database.db, id);
  };
  return { state, die };
}

const readsHistory = (text: string): boolean => tagOf(text) === 'history.read';

async function isDue(contextId: ContextId): Promise<void> {
  await the.rows(`update contexts set next_check_at = now() - interval '5 seconds' where id = '${contextId}'`);
}

/** A process claims it as `takesUp` does, and dies when it reads history. */
async function diesReading(takesUp: (state: WorkerState) => Promise<unknown>): Promise<void> {
  const reads = Promise.withResolvers<void>();
  const { state, die } = await startProcess((text) => {
    if (!readsHistory(text)) return;
    reads.resolve();
    return new Promise(() => undefined);
  });
  void takesUp(state).catch(() => undefined);
  await reads.promise;
  await die();
  await revoke(the.database.db, 1);
}

test('a context that kills every process that reads it fails with `crash_loop`, without being read', async () => {
  const { contextId } = await the.context();
  const first = await the.submit(contextId);
  const second = await the.submit(contextId);
  await diesReading((state) => runContext(state, contextId));
  expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'runnable', failed_claims: 0 });
  for (let death = 1; death <= LIMITS.failedClaims; death += 1) {
    await isDue(contextId);
    await diesReading(sweep);
    expect(await the.row(contextId)).toMatchObject({
      // After the second death it waits longer each time.
      scheduling_status: death < 2 ? 'runnable' : 'waiting',
      lease_owner: null,
      failed_claims: death,
    });
  }
  await isDue(contextId);
  const read: string[] = [];
  const { state, die } = await startProcess((text) => void (readsHistory(text) && read.push(text)));
  await runContext(state, contextId, { isSuspect: true });
  expect(read).toEqual([]);
  const [failed, next] = await the.rows(
    `select id, status, error, turn from jobs where context_id = '${contextId}' order by position`,
  );
  expect(failed).toMatchObject({ id: first, status: 'failed', error: { code: 'crash_loop' }, turn: 1 });
  expect(next).toMatchObject({ id: second, status: 'queued' });
  expect(await the.row(contextId)).toMatchObject({
    scheduling_status: 'runnable',
    state: 'PermanentFailure',
    lease_owner: null,
    failed_claims: 0,
    queued: 1,
  });
  await die();
});

test('an admitted job that keeps killing its processes ends the same way, in its turn', async () => {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const { state, die } = await startProcess(() => undefined);
  await runContext(state, contextId);
  await the.rows(`update contexts set scheduling_status = 'runnable', lease_owner = null, next_check_at = now() - interval '1 second',
    failed_claims = ${LIMITS.failedClaims} where id = '${contextId}'`);
  await runContext(state, contextId);
  expect(await the.rows(`select status, error, turn from jobs where id = '${jobId}'`)).toMatchObject([
    { status: 'failed', error: { code: 'crash_loop' }, turn: 1 },
  ]);
  expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', state: 'PermanentFailure' });
  await die();
});

test('one of a tenant with a limit of slots ends the same way, although its claim commits first', async () => {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  await the.rows(`update tenants set limits = '{"slots": 1}' where id = ${DEFAULT_TENANT}`);
  onTestFinished(async () => void (await the.rows(`update tenants set limits = '{}' where id = ${DEFAULT_TENANT}`)));
  await the.rows(`update contexts set failed_claims = ${LIMITS.failedClaims} where id = '${contextId}'`);
  const { state, die } = await startProcess(() => undefined);
  state.slots.shares.setLimits(new Map([[DEFAULT_TENANT, 1]]), false);
  // A wake-up leaves the choice to the list.
  expect(await runContext(state, contextId)).toBe('noop');
  const slot = state.slots.takeFree();
  if (slot === null) throw new Error('The process has a free slot.');
  slot.serve(DEFAULT_TENANT, '');
  expect(await runContext(state, contextId, { slot })).toBe('ended');
  slot.give();
  expect(await the.rows(`select status, error, turn from jobs where id = '${jobId}'`)).toMatchObject([
    { status: 'failed', error: { code: 'crash_loop' }, turn: 1 },
  ]);
  expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', lease_owner: null });
  await die();
});

test('a database that becomes unavailable during the claims of sweeps counts against no context', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  let cut = true;
  const { state, die } = await startProcess((text) => {
    if (!cut || !readsHistory(text)) return;
    cut = false;
    throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
  });
  await isDue(contextId);
  await sweep(state);
  await state.registry.emptied();
  expect(cut).toBe(false);
  expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'waiting', failed_claims: 0 });
  await die();
});

/**
 * Inserted by the test: messages of 15 MB, which the API would accept one after the other. Their content is made once,
 * and each has a statement of its own, which may take its time.
 */
async function addLong(contextId: ContextId, count: number, characters = 15_000_000): Promise<void> {
  const patient = the.open({ max: 1, silentMs: 150_000 });
  await patient.db.execute(`
    create temporary table long as
    select ('[{"type":"text","text":"' || repeat('x', ${characters}) || '"}]')::json as content`);
  for (let n = 0; n < count; n += 1)
    await patient.db.execute(`
      with ctx as (update contexts set head_seq = head_seq + 1 where id = '${contextId}' returning id, tenant_id, head_seq)
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
      select gen_random_uuid(), ctx.tenant_id, ctx.id, 'main', ctx.head_seq, 'user', 'text', 'u1', 'completed', long.content
      from ctx, long`);
  await patient.close();
}

test('a process that dies after the commit of its claim, while it reads, is followed by another one', async () => {
  const { contextId } = await the.context();
  await addLong(contextId, 2);
  const jobId = await the.submit(contextId);
  let reads = 0;
  const first = await startProcess((text) => {
    if (tagOf(text) !== 'history.read') return undefined;
    // In the claim, and after its commit: only there it hangs.
    reads += 1;
    return reads === 2 ? new Promise<never>(() => undefined) : undefined;
  });
  void runContext(first.state, contextId);
  await expect.poll(() => reads).toBe(2);
  expect(await the.row(contextId)).toMatchObject({
    scheduling_status: 'running',
    lease_epoch: 1,
    failed_claims: 1,
  });
  await first.die();
  const { state, die } = await startProcess(() => undefined);
  await sweep(state);
  await state.registry.emptied();
  await runContext(state, contextId);
  const [job] = await the.rows(`select status from jobs where id = '${jobId}'`);
  expect(job).not.toMatchObject({ status: 'queued' });
  await die();
});

test('of contexts that are claimed together, a long history is read after the commit, and no claim is repeated', async () => {
  const made = await Promise.all([1, 2, 3, 4].map(async () => (await the.context()).contextId));
  const [first, ...others] = made;
  if (first === undefined) throw new Error('there are four');
  // Two of them fit with none but the small one.
  await addLong(first, 1, 10);
  for (const [at, contextId] of others.entries())
    await addLong(contextId, 1, at === 0 ? 10 : LIMITS.sharedBytes / 2 + 1_000);
  for (const contextId of made) await the.submit(contextId);
  const sent: string[] = [];
  const { state, die } = await startProcess((text) => void sent.push(tagOf(text) ?? ''), 4);
  await Promise.all(made.map((contextId) => runContext(state, contextId)));
  const count = (tag: string) => sent.filter((one) => one === tag).length;
  // The first one alone, then three together, and one of them again.
  expect([count('contexts.claim_many'), count('contexts.claim'), count('history.read')]).toEqual([2, 0, 3]);
  const jobs = await the.rows(`select distinct status from jobs where context_id in ('${made.join("','")}')`);
  expect(jobs).not.toContainEqual({ status: 'queued' });
  await die();
});

test('histories that are read together are the shortest, and of the others nothing but the size comes', async () => {
  const made = await Promise.all([1, 2, 3].map(async () => (await the.context()).contextId));
  const [small, medium, large] = made as [ContextId, ContextId, ContextId];
  await addLong(small, 3, 10);
  await addLong(medium, 1, 500_000);
  await addLong(large, 2, 350_000);
  const sent = vi.spyOn(the.database.db, 'execute');
  const at = places(made.map((contextId) => ({ contextId, tenantId: DEFAULT_TENANT })));
  const { histories, tooLong } = await readHistories(the.database.db, at, LIMITS.sharedBytes);
  const rows: unknown = await sent.mock.results[0]?.value;
  sent.mockRestore();
  expect([...tooLong]).toEqual([large]);
  expect([...histories].map(([id, { history }]) => [id, history.length])).toEqual([
    [small, 3],
    [medium, 1],
  ]);
  const contents = Array.isArray(rows) ? rows.map(({ content }) => content !== null) : [];
  expect([contents.filter(Boolean).length, contents.length]).toEqual([4, 6]);
});

test('of histories of the same length, those that are read together have their content', async () => {
  const made = await Promise.all(Array.from({ length: 6 }, async () => (await the.context()).contextId));
  for (const contextId of made.toReversed()) await addLong(contextId, 1, 300_000);
  const at = places(made.toReversed().map((contextId) => ({ contextId, tenantId: DEFAULT_TENANT })));
  const { histories, tooLong } = await readHistories(the.database.db, at, LIMITS.sharedBytes);
  const lengths = [...histories.values()].flatMap(({ history }) => history.map(({ content }) => content.length));
  expect(lengths).toEqual([1, 1, 1]);
  expect(tooLong.size).toBe(3);
});

describe('a history of 270 MB', () => {
  const before = process.memoryUsage().rss;
  let contextId: ContextId;
  beforeAll(async () => {
    contextId = (await the.context()).contextId;
    await addLong(contextId, 18);
  });

  test('is refused whole, and read from its beginning', async () => {
    const lease = { contextId, tenantId: DEFAULT_TENANT };
    await expect(readHistory(the.database.db, lease, 'main')).rejects.toThrow(ReadLimitExceeded);
    const sent = vi.spyOn(the.database.db, 'execute');
    const beginning = await readBranch(the.database.db, lease, 'main');
    const rows: unknown = await sent.mock.results[0]?.value;
    sent.mockRestore();
    // The others come without their content.
    expect(Array.isArray(rows) ? rows.map(({ content }) => content !== null).filter(Boolean) : rows).toHaveLength(4);
    // Four messages of 15 MB, within 64 MB, and the last one without its content.
    expect(beginning?.history).toHaveLength(5);
    expect(beginning?.history.at(-1)?.content).toEqual([]);
    expect(beginning?.unread).toMatchObject({ messages: 4 });
  });

  test('without the messages that a summary replaces is read', async () => {
    onTestFinished(async () => void (await the.rows(`delete from compactions where context_id = '${contextId}'`)));
    await the.rows(`
    insert into compactions
      (id, tenant_id, context_id, branch, seq, type, upto_seq, summary, tokens_before, tokens_after, job_id)
    select gen_random_uuid(), tenant_id, id, 'main', head_seq + 1, 'llm', head_seq - 1, 'long ago', 9, 1,
      gen_random_uuid() from contexts where id = '${contextId}'`);
    const read = await readBranch(the.database.db, { contextId, tenantId: DEFAULT_TENANT }, 'main');
    expect(read?.history).toHaveLength(2);
    expect(read?.unread).toBeNull();
  });

  test('is not read completely: without summaries its job fails with `prompt_too_long`, and other jobs continue', async () => {
    // Its beginning is the first message alone, because the second one exceeds it: so a slow machine, too, claims it in
    // time.
    const { contextId } = await the.context();
    await addLong(contextId, 1, 1_000);
    await addLong(contextId, 4, 70_000_000);
    const { contextId: other } = await the.context();
    const jobId = await the.submit(contextId);
    const fine = await the.submit(other);
    const { state, die } = await startProcess(() => undefined);
    await Promise.all([runContext(state, contextId), runContext(state, other)]);
    // It takes 280 MB in storage, and more than twice as much in memory.
    expect(process.memoryUsage().rss - before).toBeLessThan(600_000_000);
    const [failed] = await the.rows(`select status, error, turn from jobs where id = '${jobId}'`);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'prompt_too_long' } });
    expect(failed).toHaveProperty('error.message', expect.stringContaining('a worker process reads at most 256 MB'));
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', state: 'PermanentFailure' });
    expect(await the.rows(`select status from jobs where id = '${fine}'`)).not.toMatchObject([{ status: 'queued' }]);
    await die();
  });
});
