/**
 * Ends a job whose context nobody runs, in the transaction that raised the epoch: a wish about something that waits, one
 * whose holder died or did not answer.
 */
import type { Append } from '../core/append.ts';
import type { ContextId, Ids, JobId } from '../core/ids.ts';
import { requestedEnd } from '../core/job.ts';
import type { JobStatus } from '../core/job.ts';
import { admit } from '../core/transitions/admit.ts';
import { end } from '../core/transitions/end.ts';
import type { Mailbox } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { read } from '../db/contexts.ts';
import { readAdded, readLastTurn } from '../db/history.ts';
import { readMailbox } from '../db/mailbox.ts';
import type { CalledUp } from '../db/stop-requests.ts';
import { wakeMetContexts } from './perform.ts';
import type { AfterCommit } from './perform.ts';

/** After a wish was written: its holder is summoned; where there is none, the job is settled here and now. */
export async function carryOut(
  tx: Executor,
  contextId: ContextId,
  { owner, controlSeq }: CalledUp,
  ids: Ids,
): Promise<AfterCommit[]> {
  return owner === null
    ? settleUnowned(tx, contextId, ids, true)
    : [{ kind: 'control_signal', owner, signal: { contextId, controlSeq } }];
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
): Promise<AfterCommit[]> {
  const row = await read(tx, contextId);
  const stored = row === null ? null : await readMailbox(tx, row);
  if (row === null || stored === null) return [];
  const stopRequest = (stored.mailbox.job ?? stored.mailbox.next)?.stopRequest ?? null;
  if (stopRequest === null) return [];
  const begun = await withJobBegun(tx, stored.mailbox);
  if (begun.job === null) return [];
  const job = {
    ...begun.job,
    stopRequest: heard
      ? { ...stopRequest, deliveredAt: Math.max(stopRequest.requestedAt, row.now) }
      : stopRequest,
  };
  const outcome = requestedEnd(stopRequest);
  const added = outcome.status === 'interrupted' ? await readAdded(tx, begun.lease, job.id) : [];
  const transition = end(begun, job, outcome, added, ids);
  return appendLast(tx, transition, { jobId: job.id, status: outcome.status });
}

/** A job that ends before anybody took it up is admitted all the same: its input enters history. */
export async function withJobBegun(tx: Executor, mailbox: Mailbox): Promise<Mailbox> {
  if (mailbox.job !== null || mailbox.next === null || mailbox.stopped) return mailbox;
  const history = await readLastTurn(tx, mailbox.lease, mailbox.activeBranch);
  await commit(tx, admit({ ...mailbox, history }, mailbox.next));
  const row = await read(tx, mailbox.lease.contextId);
  const begun = row === null ? null : await readMailbox(tx, row);
  if (begun === null) throw new Error('A locked context vanished.');
  return begun.mailbox;
}

/** The end of a job, in a transaction that holds the context's row; whoever claims next goes on with what is queued. */
export async function appendLast(
  tx: Executor,
  transition: Append,
  finished: { jobId: JobId; status: JobStatus },
): Promise<AfterCommit[]> {
  const { headSeq, wakeSeq, met, followUp } = await commit(tx, givenBack(transition));
  const { contextId, epoch } = transition.lease;
  const told: AfterCommit[] = [
    { kind: 'progress', progress: { contextId, headSeq, finished } },
    ...wakeMetContexts(met),
  ];
  if (followUp) told.push({ kind: 'follow_up' });
  return transition.park === null
    ? [...told, { kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } }]
    : told;
}

/** Nobody holds the context: what is still queued is for whoever claims it next. */
function givenBack(transition: Append): Append {
  return { ...transition, park: transition.park ?? { status: 'runnable' } };
}

async function commit(tx: Executor, transition: Append) {
  const [outcome] = await append(tx, [transition]);
  if (outcome?.kind !== 'committed') throw new Error('A locked context changed under its holder.');
  return outcome;
}
