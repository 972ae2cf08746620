/**
 * Ends a job whose context nobody runs, in the transaction that raised the epoch: a wish about something that waits, one
 * whose holder died or did not answer.
 */
import type { Append } from '../core/append.ts';
import { apply } from '../core/apply.ts';
import type { ContextId, Ids } from '../core/ids.ts';
import { wishedEnd } from '../core/job.ts';
import type { Wish } from '../core/job.ts';
import { admit } from '../core/moves/admit.ts';
import { end } from '../core/moves/end.ts';
import type { Mailbox, Snapshot } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { read } from '../db/contexts.ts';
import { readHistory, readMailbox } from '../db/mailbox.ts';
import type { CalledUp } from '../db/wishes.ts';
import type { Tidings } from './perform.ts';

/** After a wish was written: its holder is summoned; where there is none, the job is settled here and now. */
export async function carryOut(
  tx: Executor,
  contextId: ContextId,
  { owner, controlSeq }: CalledUp,
  ids: Ids,
): Promise<Tidings[]> {
  return owner === null
    ? settleUnowned(tx, contextId, ids, true)
    : [{ kind: 'summon', owner, summons: { contextId, controlSeq } }];
}

/**
 * Settles the job that a wish stands on, if there is one. The caller holds the context's row and its epoch. `heard`:
 * whoever settles is the first to hear of the wish; not so where its holder never answered.
 */
export async function settleUnowned(
  tx: Executor,
  contextId: ContextId,
  ids: Ids,
  heard: boolean,
): Promise<Tidings[]> {
  const row = await read(tx, contextId);
  const stored = row === null ? null : await readMailbox(tx, row);
  if (row === null || stored === null) return [];
  const wish = (stored.mailbox.job ?? stored.mailbox.next)?.wish ?? null;
  if (wish === null) return [];
  const begun = await withJobBegun(tx, await withHistory(tx, stored.mailbox, wish));
  if (begun.job === null) return [];
  const job = { ...begun.job, wish: heard ? { ...wish, deliveredAt: row.now } : wish };
  const verdict = wishedEnd(wish);
  const move = end(begun, job, verdict, begun.history, ids);
  const { headSeq, wakeSeq } = await commit(tx, { ...move, park: move.park ?? { status: 'runnable' } });
  const told: Tidings = {
    kind: 'progress',
    progress: { contextId, headSeq, finished: { jobId: job.id, status: verdict.status } },
  };
  // Nobody holds the context: what is still queued is for whoever claims it next.
  const isLeft = move.park === null;
  return isLeft ? [told, { kind: 'ring', ring: { contextId, wakeSeq, epoch: row.lease.epoch } }] : [told];
}

/** Only an interrupt looks at what the job added. */
async function withHistory(tx: Executor, mailbox: Mailbox, wish: Wish): Promise<Snapshot> {
  const history = wish.kind === 'interrupt' ? await readHistory(tx, mailbox.lease, mailbox.activeBranch) : [];
  return { ...mailbox, history, serving: { kind: 'unserved', missing: [] } };
}

/** A job that was interrupted before it began: its input enters history all the same. */
async function withJobBegun(tx: Executor, snapshot: Snapshot): Promise<Snapshot> {
  if (snapshot.job !== null || snapshot.next === null || snapshot.stopped) return snapshot;
  const move = admit(snapshot, snapshot.next);
  return apply(snapshot, move, await commit(tx, move));
}

async function commit(tx: Executor, move: Append) {
  const [outcome] = await append(tx, [move]);
  if (outcome?.kind !== 'committed') throw new Error('A locked context changed under its holder.');
  return outcome;
}
