// Faults of a stored conversation, and a way to make each: in the database, after every operation, or in the reference with which the
// test compares it.
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../../src/core/ids.ts';
import type { Reference } from './reference.ts';
import type { Tamper } from './sequence-runner.ts';

/** After every operation; `statement` null: not now. */
function stored(statement: (contextId: ContextId, reference: Reference) => SQL): Tamper {
  return async ({ db }, contextId, reference) => void (await db.execute(statement(contextId, reference)));
}

function written(change: (reference: Reference) => void): Tamper {
  return async (_, __, reference) => change(reference);
}

/** `shown`: the difference that a sequence shows; `seed`: of a sequence that does, if not the first. */
export type Fault = [fault: string, tamper: Tamper, shown: RegExp, seed?: number];

export const FAULTS: readonly Fault[] = [
  [
    'a turn is skipped',
    stored(
      (id) => sql`
      update messages set turn = 'u' || (substr(turn, 2)::int + 1) where context_id = ${id} and role = 'user' and turn = 'u2'`,
    ),
    /of turn|shows/,
  ],
  [
    'a branch reads past its fork point',
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
    'a retracted message is shown',
    stored(
      (id) =>
        sql`update messages set status = 'completed', retracted_seq = null, retraction = null where context_id = ${id} and status = 'retracted'`,
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
      (id) => sql`update branches set message_count = message_count + 1 where context_id = ${id} and message_count > 0`,
    ),
    /the list of branches says/,
  ],
  [
    'tokens are counted twice',
    stored((id) => sql`update contexts set output_tokens = 2 * output_tokens where id = ${id}`),
    /the context says/,
  ],
  [
    'stored bytes are counted twice',
    stored((id) => sql`update contexts set stored_bytes = 2 * stored_bytes where id = ${id}`),
    /the mailbox says/,
  ],
  [
    'a summary replaces fewer messages than it covers',
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
    stored((id) => sql`update compactions set branch = 'nowhere' where context_id = ${id} and summary is not null`),
    /a summary on \S+ stands for/,
    13,
  ],
  [
    'a fork point is another message',
    stored((id) => sql`update branches set fork_seq = fork_seq - 1 where context_id = ${id} and fork_seq > 1`),
    /the list of branches says/,
    4,
  ],
  [
    'a job goes to another branch',
    stored(
      (id) => sql`update jobs set branch = 'main' where context_id = ${id} and status = 'queued' and branch <> 'main'`,
    ),
    /the jobs are/,
    3,
  ],
  [
    'the reference has an answer that no model gave',
    written((reference) => {
      const last = reference.branchOf(reference.active).list.at(-1);
      if (last?.role === 'assistant') last.words = 'something else';
    }),
    /the branch \S+ shows|the model received/,
  ],
  [
    'the reference lacks a message that a branch shares',
    written((reference) => {
      if (reference.branches.length > 1) reference.branches.at(-1)?.list.shift();
    }),
    /the branch \S+ shows|list of branches/,
    4,
  ],
  [
    'the reference expects another end of a job',
    written((reference) => {
      const ended = reference.jobs.find(({ status }) => status === 'interrupted');
      if (ended !== undefined) ended.status = 'completed';
    }),
    /the jobs are/,
    2,
  ],
  [
    'the reference runs branches in another order',
    written((reference) => {
      const [first, second] = reference.queue;
      if (first === undefined || second === undefined || first.branch === second.branch) return;
      [first.place, second.place] = [second.place, first.place];
    }),
    /the model received|the model was asked on|shows|the jobs are|never came/,
    3,
  ],
];
