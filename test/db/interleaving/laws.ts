// The laws of the protocol, each with a way to break it: by changing the text of its statement on the way to Postgres.
import type { Rewrite } from '../statement-network.ts';

/** Of the schedules among which one shows it. */
export type Kind = { compacting?: boolean; deaf?: boolean };

/** `fault`: what a schedule shows when the law is broken; `seed`: of a schedule that does. */
export type Law = [law: string, rewrite: Rewrite, fault: RegExp, seed: number, kind?: Kind];

/** In every statement that holds `part`, `by` takes its place. */
function replace(part: string, by: string, where = ''): Rewrite {
  return (text) => (text.includes(where) && text.includes(part) ? text.replaceAll(part, by) : null);
}

function both(...rewrites: Rewrite[]): Rewrite {
  return (text) => {
    let rewritten: string | null = null;
    for (const rewrite of rewrites) rewritten = rewrite(rewritten ?? text) ?? rewritten;
    return rewritten;
  };
}

const CLAIM = "status = 'running', lease_owner";
const REVOKE = 'barren_claims > 1';

export const LAWS: readonly Law[] = [
  [
    'parking is guarded by wake_seq',
    replace('(w.wake is null or c.wake_seq = w.wake)', 'true'),
    /left a queued input in an idle context/,
    333,
  ],
  [
    'admitting and settling are guarded by control_seq',
    replace('(w.control is null or c.control_seq = w.control)', 'true'),
    /a wish was lost|a job began|without its job|out of order|contexts_queued|told \d times/,
    139,
  ],
  ['appending is guarded by the epoch', replace('c.lease_epoch = w.epoch', 'true'), /wrote history/, 70],
  [
    'claiming takes from nobody',
    both(
      replace('(c.lease_owner is null)', 'true', CLAIM),
      replace("(c.status = 'runnable' or", "(c.status in ('runnable', 'running') or", CLAIM),
    ),
    /took the lease of one who lives/,
    1,
  ],
  [
    'revoking a dead owner’s lease raises the epoch',
    replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', REVOKE),
    /wrote history without a lease/,
    2_021,
  ],
  [
    'a dead owner’s run is shut out by revoke and by claim, each of which raises the epoch',
    both(
      replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', REVOKE),
      replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', CLAIM),
    ),
    /wrote history|began twice|answered twice|ran \d times/,
    2_021,
  ],
  [
    'a place in the queue is taken under the row’s lock, not looked up beside it',
    replace('ctx.wake_seq, $', '(select b.wake_seq + 1 from contexts b where b.id = ctx.id), $'),
    /was given the places/,
    165,
  ],
  [
    'a place in the queue is not counted from those who were there before',
    replace(
      'ctx.wake_seq, $',
      '(select 1 + coalesce(max(b.position), 0) from jobs b where b.context_id = ctx.id), $',
    ),
    /was given the places/,
    86,
  ],
  [
    'a wake-up is counted by every submit',
    both(
      replace('wake_seq = c.wake_seq + 1,\n        queued', 'queued'),
      replace('ctx.wake_seq, $', 'extract(epoch from clock_timestamp()) * 1000000, $'),
    ),
    /left a queued input in an idle context/,
    333,
  ],
  [
    'whether an owner lives is looked up after the row’s lock',
    both(
      replace(
        'update contexts c set control_seq = c.control_seq + 1\n    where',
        'select c.id from contexts c where',
        'tenant_id',
      ),
      replace('returning c.id', '', 'select c.id from contexts c where'),
      replace(
        'lease_epoch = c.lease_epoch + u.',
        'control_seq = c.control_seq + 1, lease_epoch = c.lease_epoch + u.',
      ),
    ),
    /took the lease of one who lives|contexts_/,
    8,
  ],
  [
    'nobody settles for an owner who lives',
    replace('from (select c.id, (c.lease_owner', 'from (select c.id, (true or c.lease_owner'),
    /took the lease of one who lives/,
    1,
  ],
  [
    'a wish raises control_seq',
    replace('set control_seq = c.control_seq + 1', 'set control_seq = c.control_seq', 'tenant_id'),
    /a wish was lost|began|contexts_queued|without its job|told \d times/,
    7,
  ],
  [
    'an input that joined a job waits no longer',
    replace('steers = c.steers - w.joined', 'steers = c.steers'),
    /never taken up/,
    80,
  ],
  [
    'what is taken back leaves history',
    replace("update messages m set status = 'retracted'", "update messages m set status = 'completed'"),
    /counters of messages|has no result|never answered/,
    21,
  ],
  [
    'only what is queued is withdrawn',
    replace(
      "status = 'queued'\n      returning",
      "status in ('queued', 'running', 'waiting')\n      returning",
    ),
    /told \d times|queued|steps|jobs_|never/,
    7,
  ],
  [
    'starting wakes what is queued',
    replace("::boolean and c.status = 'idle' and c.queued > 0", '::boolean and false'),
    /left a queued input in an idle context|never taken up/,
    2,
  ],
  [
    'an answer raises control_seq, so that nobody parks over it',
    replace('control_seq = c.control_seq + 1,\n        status = case', 'status = case'),
    /nobody looks at an answer/,
    341,
  ],
  [
    'an answer wakes a context that waits',
    replace(
      "status = case when c.status = 'waiting' then 'runnable' else c.status end,\n        sweep_at = case when c.status = 'waiting'",
      "sweep_at = case when c.status = 'never'",
    ),
    /nobody looks at an answer/,
    38,
  ],
  [
    'who answers holds the context before looking',
    replace(' for no key update', '', 'select id from contexts where'),
    /a client failed: .*does not wait/,
    86,
  ],
  [
    'calling up a context without a living owner raises its epoch',
    replace('lease_epoch = c.lease_epoch + u.unowned::int', 'lease_epoch = c.lease_epoch'),
    /wrote history without a lease/,
    70,
  ],
  [
    'fencing off a holder raises the epoch',
    replace('lease_epoch = c.lease_epoch + 1, control_seq', 'control_seq'),
    /wrote history without a lease/,
    653,
    { deaf: true },
  ],
  [
    'a summary that tells of what an interrupt took back is void',
    replace("maker.status = 'interrupted'", 'false'),
    /tells of what was taken back|stands for/,
    67,
    { compacting: true },
  ],
];
