/**
 * Ends a job whose context nobody runs, in the transaction that raised the epoch: a cancel of something that waits, a
 * wish whose holder died or did not answer.
 */
import type { Append } from '../core/append.ts';
import type { ContextId, Ids, JobId } from '../core/ids.ts';
import type { JobStatus } from '../core/job.ts';
import { settle } from '../core/moves/settle.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { read } from '../db/contexts.ts';
import { readMailbox } from '../db/mailbox.ts';
import type { Tidings } from './perform.ts';

/** Settles the active job by its wish, if it has one. The caller holds the context's row and its epoch. */
/** `heard`: whoever settles is the first to hear of the wish; not so where its holder never answered. */
export async function settleUnowned(
  tx: Executor,
  contextId: ContextId,
  ids: Ids,
  heard: boolean,
): Promise<Tidings[]> {
  const row = await read(tx, contextId);
  const stored = row === null ? null : await readMailbox(tx, row);
  if (row === null || stored === null) return [];
  const { mailbox } = stored;
  if (mailbox.job === null || mailbox.job.wish === null) return [];
  const { wish } = mailbox.job;
  const job = { ...mailbox.job, wish: heard ? { ...wish, deliveredAt: row.now } : wish };
  const move = settle(mailbox, job, { status: 'cancelled', reason: wish.reason }, ids);
  return appendLast(tx, move, { jobId: job.id, status: 'cancelled' });
}

/** The end of a job, in a transaction that holds the context's row; whoever claims next goes on with what is queued. */
export async function appendLast(
  tx: Executor,
  move: Append,
  finished: { jobId: JobId; status: JobStatus },
): Promise<Tidings[]> {
  const [outcome] = await append(tx, [givenBack(move)]);
  if (outcome?.kind !== 'committed') throw new Error('A locked context changed under its holder.');
  const { contextId, epoch } = move.lease;
  const { headSeq, wakeSeq } = outcome;
  const told: Tidings = { kind: 'progress', progress: { contextId, headSeq, finished } };
  return move.park === null ? [told, { kind: 'ring', ring: { contextId, wakeSeq, epoch } }] : [told];
}

/** Nobody holds the context: what is still queued is for whoever claims it next. */
function givenBack(move: Append): Append {
  return { ...move, park: move.park ?? { status: 'runnable' } };
}
