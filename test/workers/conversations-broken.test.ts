// The book of a conversation is worth something only if what is not as it says is found. Each law is broken in turn, in the
// database, behind the back of all; or the book itself is wrong. Some sequence must show it.
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContextId } from '../../src/core/ids.ts';
import type { Book } from './conversations/book.ts';
import { sequenceOf } from './conversations/dice.ts';
import { Stage } from './conversations/stage.ts';
import type { Tamper } from './conversations/stage.ts';

/** More sequences than any of these has needed. */
const SEQUENCES = 40;

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

/** After every operation; `statement` null: not now. */
function stored(statement: (contextId: ContextId, book: Book) => SQL): Tamper {
  return async ({ db }, contextId, book) => void (await db.execute(statement(contextId, book)));
}

function written(change: (book: Book) => void): Tamper {
  return async (_, __, book) => change(book);
}

/** `seed`: of a sequence that has shown it, which is played first. */
test.each<[law: string, tamper: Tamper, fault: RegExp, seed?: number]>([
  [
    'a turn is skipped',
    stored(
      (id) => sql`
      update messages set turn = 'u' || (substr(turn, 2)::int + 1) where context_id = ${id} and role = 'user' and turn = 'u2'`,
    ),
    /of turn|shows/,
  ],
  [
    'a branch reads on where it was left',
    stored(
      (id) => sql`
      update branches set spans = jsonb_set(spans, '{0,upto}', to_jsonb(1000000))
      where context_id = ${id} and jsonb_array_length(spans) > 1`,
    ),
    /the branch \S+ shows/,
    4,
  ],
  [
    'a branch reads less than it shares',
    stored(
      (id) => sql`
      update branches set spans = spans - 0 where context_id = ${id} and jsonb_array_length(spans) > 1`,
    ),
    /the branch \S+ shows/,
    4,
  ],
  [
    'a message is on another branch',
    stored(
      (id) => sql`
      update messages set branch = (select name from branches b where b.context_id = ${id} order by created_at desc limit 1)
      where context_id = ${id} and seq is not null and seq = (select max(seq) from messages where context_id = ${id})`,
    ),
    /the branch \S+ shows/,
    3,
  ],
  [
    'what was taken back is shown',
    stored(
      (id) => sql`update messages set status = 'completed' where context_id = ${id} and status = 'retracted'`,
    ),
    /the branch \S+ shows/,
    2,
  ],
  [
    'a result is missing',
    stored((id) => sql`update messages set status = 'retracted' where context_id = ${id} and role = 'tool'`),
    /the branch \S+ shows/,
  ],
  [
    'a queued input waits on another branch',
    stored(
      (id) => sql`
      update messages set branch = 'main' where context_id = ${id} and status = 'queued' and branch <> 'main'`,
    ),
    /the branch \S+ shows/,
    3,
  ],
  [
    'turns are counted wrong',
    stored((id) => sql`update contexts set turn_count = turn_count + 1 where id = ${id}`),
    /the context says/,
  ],
  [
    'what a branch added is counted wrong',
    stored(
      (id) =>
        sql`update branches set message_count = message_count + 1 where context_id = ${id} and message_count > 0`,
    ),
    /the list of branches says/,
  ],
  [
    'tokens are counted twice',
    stored((id) => sql`update contexts set output_tokens = 2 * output_tokens where id = ${id}`),
    /the context says/,
  ],
  [
    'a summary stands for less than it tells',
    stored(
      (id) => sql`
        update compactions k set upto_seq = (select min(m.seq) from messages m
          where m.context_id = ${id} and m.branch = k.branch and m.status = 'completed')
        where context_id = ${id} and summary is not null and exists (
          select 1 from messages m where m.context_id = ${id} and m.branch = k.branch and m.status = 'completed')`,
    ),
    /a summary on \S+ stands for/,
    13,
  ],
  [
    'a summary is shown on another branch',
    stored(
      (id) => sql`update compactions set branch = 'nowhere' where context_id = ${id} and summary is not null`,
    ),
    /a summary on \S+ stands for/,
    13,
  ],
  [
    'a fork point is another message',
    stored(
      (id) => sql`update branches set fork_seq = fork_seq - 1 where context_id = ${id} and fork_seq > 1`,
    ),
    /the list of branches says/,
    4,
  ],
  [
    'a job goes to another branch',
    stored(
      (id) =>
        sql`update jobs set branch = 'main' where context_id = ${id} and status = 'queued' and branch <> 'main'`,
    ),
    /the jobs are/,
    3,
  ],
  [
    'the book has an answer that nobody gave',
    written((book) => {
      const last = book.branchOf(book.active).list.at(-1);
      if (last?.role === 'assistant') last.words = 'something else';
    }),
    /the branch \S+ shows|the model was told/,
  ],
  [
    'the book forgets what a branch shares',
    written((book) => {
      if (book.branches.length > 1) book.branches.at(-1)?.list.shift();
    }),
    /the branch \S+ shows|list of branches/,
    4,
  ],
  [
    'the book expects another end of a job',
    written((book) => {
      const ended = book.jobs.find(({ status }) => status === 'interrupted');
      if (ended !== undefined) ended.status = 'completed';
    }),
    /the jobs are/,
    2,
  ],
  [
    'the book runs branches in another order',
    written((book) => {
      const [first, second] = book.queue;
      if (first === undefined || second === undefined || first.branch === second.branch) return;
      [first.place, second.place] = [second.place, first.place];
    }),
    /the model was told|the model was asked on|shows|the jobs are|never came/,
    3,
  ],
])('%s, and it is found', async (_, tamper, fault, seed = 1) => {
  const others = Array.from({ length: SEQUENCES }, (_none, place) => place + 1);
  for (const next of new Set([seed, ...others])) {
    const { faults } = await stage.judge(sequenceOf(next), tamper);
    if (faults.length === 0) continue;
    expect(faults.join('\n')).toMatch(fault);
    return;
  }
  expect.fail('no sequence showed it');
});

test('a sequence that is left alone shows nothing', async () => {
  expect((await stage.judge(sequenceOf(1))).faults).toEqual([]);
});
