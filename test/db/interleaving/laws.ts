// The laws of the protocol, each with a way to break it: by rewriting its statement on the way to Postgres.
import type { Rewrite } from '../connection/statement-network.ts';

/** The kind of schedules among which one shows it. */
export type Kind = { compacting?: boolean; deaf?: boolean };

/**
 * `rewrites`: all of them together break the law. `fault`: the violation that a schedule then shows; `seed`: of such a
 * schedule.
 */
export type Law = [law: string, rewrites: Rewrite | readonly Rewrite[], fault: RegExp, seed: number, kind?: Kind];

/** In every statement that contains `part`, `by` replaces it. */
function replace(part: string, by: string, where = ''): Rewrite {
  return (text) => (text.includes(where) && text.includes(part) ? text.replaceAll(part, by) : null);
}

const CLAIM = "scheduling_status = 'running', lease_owner";
const REVOKE = 'failed_claims > 1';

export const LAWS: readonly Law[] = [
  [
    'a context parks only if wake_seq is unchanged',
    replace('(w.wake is null or c.wake_seq = w.wake)', 'true'),
    /left a queued input in an idle context/,
    333,
  ],
  [
    'a run takes inputs up and settles jobs only if control_seq is unchanged',
    replace('(w.control is null or c.control_seq = w.control)', 'true'),
    /a stop request was lost|a job began|without its job|out of order|contexts_queued|published \d times/,
    76,
  ],
  ['a run appends only under its own epoch', replace('c.lease_epoch = w.epoch', 'true'), /wrote history/, 70],
  [
    'a claim takes only a context without an owner',
    [
      replace('(c.lease_owner is null)', 'true', CLAIM),
      replace("(c.scheduling_status = 'runnable' or", "(c.scheduling_status in ('runnable', 'running') or", CLAIM),
    ],
    /took the lease of a live owner/,
    3,
  ],
  [
    'revoking the lease of a dead owner raises the epoch',
    replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', REVOKE),
    /wrote history without a lease/,
    2_021,
  ],
  [
    'a run of a dead owner is fenced off by revoke and by claim, each of which raises the epoch',
    [
      replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', REVOKE),
      replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', CLAIM),
    ],
    /wrote history|began twice|answered twice|ran \d times/,
    2_021,
  ],
  [
    'a queue position is taken under the row lock, not read beside it',
    replace('ctx.wake_seq, j.message_id', '(select b.wake_seq + 1 from contexts b where b.id = ctx.id), j.message_id'),
    /was given the places/,
    165,
  ],
  [
    'a queue position is not counted from the jobs that exist',
    replace(
      'ctx.wake_seq, j.message_id',
      '(select 1 + coalesce(max(b.position), 0) from jobs b where b.context_id = ctx.id), j.message_id',
    ),
    /was given the places/,
    86,
  ],
  [
    'every submit raises wake_seq',
    [
      replace('wake_seq = c.wake_seq + 1,\n        queued', 'queued'),
      replace('ctx.wake_seq, j.message_id', 'extract(epoch from clock_timestamp()) * 1000000, j.message_id'),
    ],
    /left a queued input in an idle context/,
    333,
  ],
  [
    'whether an owner is alive is checked after the row lock is taken',
    [
      replace(
        'update contexts c set control_seq = c.control_seq + 1\n    where',
        'select c.id from contexts c where',
        'tenant_id',
      ),
      replace('returning c.id', '', 'select c.id from contexts c where'),
      replace('lease_epoch = c.lease_epoch + u.', 'control_seq = c.control_seq + 1, lease_epoch = c.lease_epoch + u.'),
    ],
    /took the lease of a live owner|contexts_/,
    8,
  ],
  [
    'no command settles a job for an owner that is alive',
    replace('from (select c.id, (c.lease_owner', 'from (select c.id, (true or c.lease_owner'),
    /took the lease of a live owner/,
    2,
  ],
  [
    'a stop request raises control_seq',
    replace('set control_seq = c.control_seq + 1', 'set control_seq = c.control_seq', 'tenant_id'),
    /a stop request was lost|began|contexts_queued|without its job|published \d times/,
    7,
  ],
  [
    'an input that joined a job no longer waits',
    replace('steers = c.steers - w.steers', 'steers = c.steers'),
    /never run/,
    80,
  ],
  [
    'a retracted message leaves the history',
    replace(
      "update messages m set status = 'retracted', retracted_seq = ctx.head_seq, retraction = r.retraction",
      "update messages m set status = 'completed'",
    ),
    /counters of messages|has no result|never answered/,
    21,
  ],
  [
    'an append counts the bytes of its messages',
    replace('stored_bytes = c.stored_bytes + w.stored_bytes', 'stored_bytes = c.stored_bytes'),
    /stored bytes is wrong/,
    1,
  ],
  [
    'an input counts its bytes',
    replace('stored_bytes = c.stored_bytes + g.bytes', 'stored_bytes = c.stored_bytes'),
    /stored bytes is wrong/,
    1,
  ],
  [
    'only queued jobs are withdrawn',
    replace("status in ('delayed', 'queued')", "status in ('delayed', 'queued', 'running', 'waiting')"),
    /published \d times|queued|steps|jobs_|never/,
    20,
  ],
  [
    'starting a worker wakes its queued inputs',
    replace("::boolean and c.scheduling_status = 'idle' and c.queued > 0", '::boolean and false'),
    /left a queued input in an idle context|never run/,
    2,
  ],
  [
    'an answer raises control_seq, so that the run does not park over it',
    replace('control_seq = c.control_seq + 1,\n        scheduling_status = case', 'scheduling_status = case'),
    /no sweep reads an answer/,
    341,
  ],
  [
    'an answer wakes a context that waits',
    replace(
      "scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,\n        next_check_at = case when c.scheduling_status = 'waiting'",
      "next_check_at = case when c.scheduling_status = 'never'",
    ),
    /no sweep reads an answer/,
    38,
  ],
  [
    'a command that answers locks the context before it reads the calls',
    replace(' for no key update', '', 'select id from contexts where'),
    /a client failed: .*no longer waits/,
    86,
  ],
  [
    'locking a context without a living owner for control raises its epoch',
    replace('lease_epoch = c.lease_epoch + u.unowned::int', 'lease_epoch = c.lease_epoch'),
    /wrote history without a lease/,
    70,
  ],
  [
    'fencing off an owner raises the epoch',
    replace('lease_epoch = c.lease_epoch + 1, control_seq', 'control_seq'),
    /wrote history without a lease/,
    653,
    { deaf: true },
  ],
  [
    'a summary of retracted messages is void',
    replace("maker.status = 'interrupted'", 'false'),
    /covers retracted messages|replaces/,
    67,
    { compacting: true },
  ],
];
