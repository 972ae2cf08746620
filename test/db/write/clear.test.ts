// Clear under concurrency and crash: against inputs, claims and itself, complete or not at all, and at the same cost
// for any length of history.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clearContext } from '../../../src/commands/contexts/clear-context.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { append } from '../../../src/db/run/append/append.ts';
import { claim } from '../../../src/db/run/claims.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import { submit } from '../../../src/db/write/inputs/submit.ts';
import { given, nothing, type Given, type Row } from '../database-fixture.ts';
import { submissionTo } from '../inputs.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const clear = (contextId: ContextId, database = the.database) =>
  perform(
    the.ports(database),
    clearContext(the.ports(database), { tenantId: DEFAULT_TENANT, contextId, isCurrent: () => true }),
  );

/** An idle context with so many messages of one turn, and a branch beside the first. */
async function spoken(messages = 4): Promise<ContextId> {
  const { contextId } = await the.context();
  await the.rows(`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), '${DEFAULT_TENANT}', '${contextId}', 'main', n, case n % 2 when 1 then 'user' else 'assistant' end,
      'text', (case n % 2 when 1 then 'u' else 'a' end) || (n + 1) / 2, 'completed', '[]'::jsonb, now()
    from generate_series(1, ${messages}) n`);
  await the.rows(`
    insert into branches (context_id, tenant_id, name, parent_name, fork_seq)
    values ('${contextId}', '${DEFAULT_TENANT}', 'aside', 'main', 2)`);
  await the.rows(`update contexts set head_seq = ${messages}, message_count = ${messages}, turn_count = ${messages / 2},
    request_count = 2, input_tokens = 7, active_branch = 'aside' where id = '${contextId}'`);
  return contextId;
}

const history = (contextId: ContextId) => readHistory(the.database.db, { contextId, tenantId: DEFAULT_TENANT }, 'main');

const cleared = async (contextId: ContextId): Promise<Row[]> =>
  the.rows(`select seq from events where context_id = '${contextId}' and name = 'ContextCleared' order by seq`);

test('leaves one empty branch, and counters at 0', async () => {
  const contextId = await spoken();
  expect((await clear(contextId)).kind).toBe('done');
  expect(await the.row(contextId)).toMatchObject({
    scheduling_status: 'idle',
    state: 'Idle',
    head_seq: 5,
    active_branch: 'main',
    message_count: 0,
    turn_count: 0,
    request_count: 0,
    input_tokens: 0,
  });
  expect(await the.rows(`select name, spans from branches where context_id = '${contextId}'`)).toEqual([
    { name: 'main', spans: [{ branch: 'main', after: 5, upto: null }] },
  ]);
  expect(await history(contextId)).toEqual([]);
});

test('rewrites no row of a message or an event, however many there are', async () => {
  const contextId = await spoken(2_000);
  const rows = () => the.rows(`select xmin::text, id from messages where context_id = '${contextId}' order by seq`);
  const before = await rows();
  await clear(contextId);
  expect(await rows()).toEqual(before);
});

test('is complete or absent when its process dies', async () => {
  let statement = 0;
  for (let isDone = false; !isDone; statement += 1) {
    const contextId = await spoken();
    const before = await the.row(contextId);
    isDone = await clear(contextId, the.dying(statement + 1)).then(
      () => true,
      () => false,
    );
    if (!isDone) {
      expect(await the.row(contextId)).toEqual(before);
      expect(await history(contextId)).toHaveLength(4);
      expect((await clear(contextId)).kind).toBe('done');
    }
    expect(await history(contextId)).toEqual([]);
    expect(await cleared(contextId)).toEqual([{ seq: 5 }]);
  }
  expect(statement).toBeGreaterThan(4);
});

/** Work that starts inside a transaction that holds the lock of the context, and continues once that has ended. */
async function behind<T>(first: (tx: Executor) => Promise<unknown>, name: string, then: () => Promise<T>): Promise<T> {
  let second: Promise<T> | null = null;
  await the.database.transaction(async (tx) => {
    await first(tx);
    second = then();
    await untilBlocked(name);
  });
  if (second === null) throw new Error('nothing was started');
  return second;
}

describe('an input', () => {
  test('that comes before keeps its history: the clear is refused', async () => {
    const contextId = await spoken();
    const client = the.open({ max: 1, name: 'clears' });
    const outcome = await behind(
      (tx) => submit(tx, submissionTo(contextId)),
      'clears',
      () => clear(contextId, client),
    );
    expect(outcome).toMatchObject({ kind: 'refused', code: 'context_busy' });
    expect(await history(contextId)).toHaveLength(4);
    expect((await the.claimed(contextId)).activeBranch).toBe('aside');
  });

  test('that comes after starts on the first branch, with an empty history', async () => {
    const contextId = await spoken();
    const client = the.open({ max: 1, name: 'submits' });
    const submission = submissionTo(contextId);
    const submitted = await behind(
      (tx) => clearContext(the.ports(), { tenantId: DEFAULT_TENANT, contextId, isCurrent: () => true })(tx),
      'submits',
      () => submit(client.db, submission),
    );
    expect(submitted).toMatchObject({ headSeq: 5, runnable: true });
    const [job] = await the.rows(`select branch from jobs where id = '${submission.jobId}'`);
    expect(job).toEqual({ branch: 'main' });
    await the.claimed(contextId);
    expect(await history(contextId)).toEqual([]);
  });
});

describe('a claim', () => {
  test('that comes before runs its job: the clear is refused', async () => {
    const contextId = await spoken();
    await the.submit(contextId);
    const owner = await the.process();
    const client = the.open({ max: 1, name: 'clears-too' });
    const outcome = await behind(
      (tx) => claim(tx, contextId, owner),
      'clears-too',
      () => clear(contextId, client),
    );
    expect(outcome).toMatchObject({ kind: 'refused', code: 'context_busy' });
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'running', lease_owner: owner });
  });

  test('without work to do loses its lease, and can write nothing any more', async () => {
    const contextId = await spoken();
    await the.rows(
      `update contexts set scheduling_status = 'runnable', next_check_at = now() where id = '${contextId}'`,
    );
    const { lease } = await the.claimed(contextId);
    expect((await clear(contextId)).kind).toBe('done');
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', lease_owner: null });
    expect(await append(the.database.db, [nothing(lease)])).toEqual([{ kind: 'stale' }]);
  });

  test('of a dead process without work to do is no obstacle', async () => {
    const contextId = await spoken();
    await the.rows(
      `update contexts set scheduling_status = 'runnable', next_check_at = now() where id = '${contextId}'`,
    );
    const dead = await the.process();
    await claim(the.database.db, contextId, dead);
    await the.rows(`update processes set dead_at = now() where id = '${dead}'`);
    expect((await clear(contextId)).kind).toBe('done');
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', lease_owner: null });
  });
});

test('two at once are two clears, in one sequence of numbers', async () => {
  const contextId = await spoken();
  const outcomes = await Promise.all([1, 2, 3].map(() => clear(contextId)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
  expect(await cleared(contextId)).toEqual([{ seq: 5 }, { seq: 6 }, { seq: 7 }]);
  expect(await the.row(contextId)).toMatchObject({ head_seq: 7 });
});

async function untilBlocked(name: string): Promise<void> {
  for (;;) {
    const rows = await the.database.db.execute(sql`
      select 1 from pg_stat_activity where datname = current_database() and application_name = ${name}
        and cardinality(pg_blocking_pids(pid)) > 0`);
    if (rows.length > 0) return;
  }
}
