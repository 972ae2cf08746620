// The checks of the schedules are worth something only if they see a law broken. Each law of the protocol is broken in
// turn, by changing the text of its statement on the way to Postgres; some schedule must show it.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Stage } from './interleaving/stage.ts';
import type { Rewrite } from './interleaving/rewrite.ts';

const breaking = vi.hoisted(() => ({ law: { rewrite: null as Rewrite | null } }));

vi.mock(import('postgres'), async (load) => {
  const { rewriting } = await import('./interleaving/rewrite.ts');
  const original = await load();
  return { ...original, default: rewriting(original.default, breaking.law) };
});

/** More schedules than any of these has needed. */
const SCHEDULES = 5_000;

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  breaking.law.rewrite = null;
  await stage.close();
});

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

/** `from`: with which schedule one begins, where those before it show nothing. */
type More = { compacting?: boolean; deaf?: boolean; from?: number };

test.each<[law: string, rewrite: Rewrite, fault: RegExp, more?: More]>([
  [
    'parking is guarded by wake_seq',
    replace('(w.wake is null or c.wake_seq = w.wake)', 'true'),
    /left a queued input in an idle context/,
  ],
  [
    'admitting and settling are guarded by control_seq',
    replace('(w.control is null or c.control_seq = w.control)', 'true'),
    /a wish was lost|a job began|without its job|out of order|contexts_queued|told \d times/,
  ],
  ['appending is guarded by the epoch', replace('c.lease_epoch = w.epoch', 'true'), /wrote history/],
  [
    'claiming takes from nobody',
    both(
      replace('(c.lease_owner is null)', 'true', CLAIM),
      replace("(c.status = 'runnable' or", "(c.status in ('runnable', 'running') or", CLAIM),
    ),
    /took the lease of one who lives/,
  ],
  [
    'revoking a dead owner’s lease raises the epoch',
    replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', REVOKE),
    /wrote history without a lease/,
    { from: 2_000 },
  ],
  [
    'a dead owner’s run is shut out by revoke and by claim, each of which raises the epoch',
    both(
      replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', REVOKE),
      replace('lease_epoch = c.lease_epoch + 1', 'lease_epoch = c.lease_epoch', CLAIM),
    ),
    /wrote history|began twice|answered twice|ran \d times/,
    { from: 2_000 },
  ],
  [
    'a place in the queue is taken under the row’s lock, not looked up beside it',
    replace('ctx.wake_seq, $', '(select b.wake_seq + 1 from contexts b where b.id = ctx.id), $'),
    /was given the places/,
  ],
  [
    'a place in the queue is not counted from those who were there before',
    replace(
      'ctx.wake_seq, $',
      '(select 1 + coalesce(max(b.position), 0) from jobs b where b.context_id = ctx.id), $',
    ),
    /was given the places/,
  ],
  [
    'a wake-up is counted by every submit',
    both(
      replace('wake_seq = c.wake_seq + 1,\n        queued', 'queued'),
      replace('ctx.wake_seq, $', 'extract(epoch from clock_timestamp()) * 1000000, $'),
    ),
    /left a queued input in an idle context/,
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
  ],
  [
    'nobody settles for an owner who lives',
    replace('from (select c.id, (c.lease_owner', 'from (select c.id, (true or c.lease_owner'),
    /took the lease of one who lives/,
  ],
  [
    'a wish raises control_seq',
    replace('set control_seq = c.control_seq + 1', 'set control_seq = c.control_seq', 'tenant_id'),
    /a wish was lost|began|contexts_queued|without its job|told \d times/,
  ],
  [
    'an input that joined a job waits no longer',
    replace('steers = c.steers - w.joined', 'steers = c.steers'),
    /never taken up/,
  ],
  [
    'what is taken back leaves history',
    replace("update messages m set status = 'retracted'", "update messages m set status = 'completed'"),
    /counters of messages|has no result|never answered/,
  ],
  [
    'only what is queued is withdrawn',
    replace(
      "status = 'queued'\n      returning",
      "status in ('queued', 'running', 'waiting')\n      returning",
    ),
    /told \d times|queued|steps|jobs_|never/,
  ],
  [
    'starting wakes what is queued',
    replace("::boolean and c.status = 'idle' and c.queued > 0", '::boolean and false'),
    /left a queued input in an idle context|never taken up/,
  ],
  [
    'an answer raises control_seq, so that nobody parks over it',
    replace('control_seq = c.control_seq + 1,\n        status = case', 'status = case'),
    /nobody looks at an answer/,
  ],
  [
    'an answer wakes a context that waits',
    replace(
      "status = case when c.status = 'waiting' then 'runnable' else c.status end,\n        sweep_at = case when c.status = 'waiting'",
      "sweep_at = case when c.status = 'never'",
    ),
    /nobody looks at an answer/,
  ],
  [
    'who answers holds the context before looking',
    replace(' for no key update', '', 'select id from contexts where'),
    /a client failed: .*does not wait/,
  ],
  [
    'calling up a context without a living owner raises its epoch',
    replace('lease_epoch = c.lease_epoch + u.unowned::int', 'lease_epoch = c.lease_epoch'),
    /wrote history without a lease/,
  ],
  [
    'fencing off a holder raises the epoch',
    replace('lease_epoch = c.lease_epoch + 1, control_seq', 'control_seq'),
    /wrote history without a lease/,
    { deaf: true },
  ],
  [
    'a summary that tells of what an interrupt took back is void',
    replace("maker.status = 'interrupted'", 'false'),
    /tells of what was taken back|stands for/,
    { compacting: true },
  ],
])(
  'seen when broken: %s',
  { timeout: 900_000 },
  async (_, rewrite, fault, { compacting = false, deaf = false, from = 1 } = {}) => {
    let rewritten = 0;
    breaking.law.rewrite = (text) => {
      const changed = rewrite(text);
      if (changed !== null && changed !== text) rewritten += 1;
      return changed;
    };
    const seen = new Set<string>();
    let found = false;
    for (let seed = from; seed < from + SCHEDULES && !found; seed += 1) {
      const { faults } = await stage.judge(seed, compacting, deaf);
      for (const line of faults) seen.add(line);
      found = faults.some((line) => fault.test(line));
    }
    breaking.law.rewrite = null;
    expect(rewritten, 'the statement was not found: it reads otherwise by now').toBeGreaterThan(0);
    expect(found, `seen instead: ${[...seen].join('; ')}`).toBe(true);
  },
);
