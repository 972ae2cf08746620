// Requests and writes behind a long history read as many messages as behind a short one. Counted by Postgres' own
// statistics, inside the transaction.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { editInput, regenerate } from '../../../src/commands/inputs/regenerate.ts';
import { createBranch, switchBranch } from '../../../src/commands/contexts/change-branches.ts';
import { performWithin, type AnyCommand } from '../../../src/commands/perform.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type MessageId,
} from '../../../src/core/ids.ts';
import { append } from '../../../src/db/run/append/append.ts';
import { findBranchView } from '../../../src/db/read/contexts/branch-views.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { findContext } from '../../../src/db/read/contexts/context-views.ts';
import { listMessages, type MessageRange } from '../../../src/db/read/messages/message-views.ts';
import { job as someJob } from '../../core/builders.ts';
import { given, ids, nothing, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { postedInput } from '../inputs.ts';

const LONG = 5_000;
const BRANCH = 'made';

let the: Given;
let short: ContextId;
let long: ContextId;
beforeAll(async () => {
  the = await given(createFreshDatabase);
  short = await spoken(10);
  long = await spoken(LONG);
  await the.rows('vacuum analyze messages');
});
afterAll(() => the.close());

async function spoken(messages: number): Promise<ContextId> {
  const { contextId } = await the.context();
  await the.rows(`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), '${DEFAULT_TENANT}', '${contextId}', 'main', n, case n % 2 when 1 then 'user' else 'assistant' end,
      'text', (case n % 2 when 1 then 'u' else 'a' end) || (n + 1) / 2, 'completed', '[{"type":"text","text":"x"}]'::jsonb, now()
    from generate_series(1, ${messages}) n`);
  await the.rows(`update contexts set head_seq = ${messages}, message_count = ${messages}, turn_count = ${messages / 2}
    where id = '${contextId}'`);
  return contextId;
}

/** The number of messages read; the work is rolled back. */
async function touched(work: (tx: Executor) => Promise<unknown>): Promise<number> {
  let count = Number.NaN;
  const undone = new Error('undone');
  const whole = the.database.transaction(async (tx) => {
    const before = await lookedAt(tx);
    await work(tx);
    count = (await lookedAt(tx)) - before;
    throw undone;
  });
  await expect(whole).rejects.toBe(undone);
  return count;
}

/** So far on this connection. */
async function lookedAt(tx: Executor): Promise<number> {
  const [row] = await tx.execute<{ count: number }>(sql`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables
    where relname = 'messages'`);
  if (row === undefined) throw new Error('Nothing is counted.');
  return row.count;
}

async function expectTheSame(work: (tx: Executor, contextId: ContextId) => Promise<unknown>): Promise<void> {
  const behindFew = await touched((tx) => work(tx, short));
  const behindMany = await touched((tx) => work(tx, long));
  expect(behindMany).toBeLessThanOrEqual(behindFew + 2);
}

const carriedOut = async <T>(tx: Executor, command: AnyCommand<T>): Promise<void> => {
  expect((await performWithin(tx, command)).kind).toBe('done');
};

const target = (contextId: ContextId) => ({ tenantId: DEFAULT_TENANT, contextId });

async function messageAt(tx: Executor, contextId: ContextId, share: number): Promise<MessageId> {
  const [row] = await tx.execute<{ id: MessageId }>(sql`
    select m.id from contexts c join messages m on m.context_id = c.id
      and m.seq = greatest(1, 2 * floor(c.head_seq * ${share}::float8 / 2) - 1)::bigint where c.id = ${contextId}`);
  if (row === undefined) throw new Error('no such message');
  return row.id;
}

const make = async (tx: Executor, contextId: ContextId, fromMessageId: MessageId | null): Promise<void> => {
  const made = { ...target(contextId), name: BRANCH, fromBranch: null, fromMessageId, activate: true };
  await carriedOut(tx, createBranch(made));
  const view = await findBranchView(tx, DEFAULT_TENANT, contextId, BRANCH);
  expect(view).toMatchObject({ name: BRANCH, length: null });
};

test('a branch made behind all messages, and the answer that reports it', () =>
  expectTheSame((tx, contextId) => make(tx, contextId, null)));

test('a branch made in the middle, and switched away from', () =>
  expectTheSame(async (tx, contextId) => {
    await make(tx, contextId, await messageAt(tx, contextId, 0.5));
    await carriedOut(tx, switchBranch(target(contextId), 'main'));
  }));

test.each([0, 0.5, 1])('an input edited, and answered again, at %d of history', async (share) => {
  await expectTheSame(async (tx, contextId) => {
    const revision = {
      messageId: await messageAt(tx, contextId, share),
      name: null,
      input: { ...postedInput(), contextId, content: [{ type: 'text' as const, text: 'hi' }] },
    };
    await carriedOut(tx, editInput(the.ports(), revision));
  });
  await expectTheSame(async (tx, contextId) => {
    const revision = { messageId: await messageAt(tx, contextId, share), name: null };
    await carriedOut(
      tx,
      regenerate(the.ports(), { ...revision, input: { ...postedInput({ content: null }), contextId } }),
    );
  });
});

test('an input', () =>
  expectTheSame((tx, contextId) => carriedOut(tx, submitInput(the.ports(), { ...postedInput(), contextId }))));

test('the read of a context', () => expectTheSame((tx, contextId) => findContext(tx, DEFAULT_TENANT, contextId, {})));

test('the first step of a job, and the end of it', () =>
  expectTheSame(async (tx, contextId) => {
    const jobId = ids.next<JobId>();
    const messageId = ids.next<MessageId>();
    const content = [{ type: 'text' as const, text: 'hi' }];
    await carriedOut(
      tx,
      submitInput(
        { ...the.ports(), ids: { next: () => jobId as never } },
        { ...postedInput({ content: null }), contextId },
      ),
    );
    const process = ids.next();
    await tx.execute(sql`
      update contexts set scheduling_status = 'running', lease_owner = ${process}, lease_epoch = 1 where id = ${contextId}`);
    const lease = {
      ...target(contextId),
      tenantName: DEFAULT_TENANT_NAME,
      user: '' as const,
      notifies: false,
      epoch: 1,
    };
    const job = someJob({ id: jobId, kind: 'retry' });
    const [begun] = await append(tx, [nothing(lease, { job: { kind: 'admit', job } })]);
    expect(begun?.kind).toBe('committed');
    const [ended] = await append(tx, [
      nothing(lease, {
        entries: [
          {
            kind: 'message',
            message: {
              id: messageId,
              role: 'assistant',
              type: 'text',
              turn: 'a1',
              content,
              jobId,
              model: null,
            },
          },
        ],
        job: { kind: 'settle', job, outcome: { status: 'completed', outputId: messageId } },
        park: { status: 'idle' },
      }),
    ]);
    expect(ended?.kind).toBe('committed');
  }));

const RANGE: MessageRange = {
  branch: null,
  turn: null,
  order: 'asc',
  retracted: false,
  compacted: false,
  after: { seq: null, queue: null },
  limit: 5,
};

test.each<[string, Partial<MessageRange>, number | null]>([
  ['first', {}, null],
  ['last', { order: 'desc' }, null],
  ['middle', {}, 0.5],
])('the %s page', (_, range, share) =>
  expectTheSame(async (tx, contextId) => {
    const head = contextId === long ? LONG : 10;
    const after = { seq: share === null ? null : Math.floor(head * share), queue: null };
    const read = await listMessages(tx, DEFAULT_TENANT, contextId, { ...RANGE, after, ...range });
    expect(read?.messages).toHaveLength(5);
  }),
);
