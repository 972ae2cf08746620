/**
 * Ends a job whose context no process runs, in the transaction that raised the epoch: the job waits and has a stop
 * request, or its lease owner died or did not answer one.
 */
import type { Append } from '../../core/run/append.ts';
import type { ContextId, Ids, JobId } from '../../core/ids.ts';
import { requestedEnd } from '../../core/run/job.ts';
import { admit } from '../../core/transitions/admit.ts';
import { end } from '../../core/transitions/end.ts';
import type { Mailbox } from '../../core/run/snapshot.ts';
import { append } from '../../db/run/append/append.ts';
import type { Executor } from '../../db/connection/client.ts';
import { read } from '../../db/run/contexts.ts';
import { readAdded, readLastTurn } from '../../db/run/history.ts';
import { readMailbox } from '../../db/run/mailbox/mailbox.ts';
import type { LockedForControl } from '../../db/run/stop-requests.ts';
import { signalTo, wakeMetContexts, type AfterCommit } from '../after-commit.ts';

/**
 * After a stop request was written: sends a control signal to the lease owner. Without one, settles the job at once.
 */
export async function carryOut(
  tx: Executor,
  contextId: ContextId,
  locked: LockedForControl,
  ids: Ids,
): Promise<AfterCommit[]> {
  return locked.owner === null ? settleUnowned(tx, contextId, ids, true) : signalTo(contextId, locked);
}

/**
 * Settles the job that has a stop request, if there is one. The caller has locked the context's row and raised its
 * epoch. `isDelivered`: this settlement counts as the delivery of the request; false if the lease owner never answered
 * it.
 */
export async function settleUnowned(
  tx: Executor,
  contextId: ContextId,
  ids: Ids,
  isDelivered: boolean,
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
    stopRequest: isDelivered
      ? { ...stopRequest, deliveredAt: Math.max(stopRequest.requestedAt, row.now) }
      : stopRequest,
  };
  const outcome = requestedEnd(stopRequest);
  const added = outcome.status === 'interrupted' ? await readAdded(tx, begun.lease, job.id) : [];
  const transition = end(begun, { job, outcome }, added, ids);
  return appendLast(tx, transition, job.id);
}

/** A job that ends before any run took it is still admitted, so that its input enters history. */
export async function withJobBegun(tx: Executor, mailbox: Mailbox): Promise<Mailbox> {
  if (mailbox.job !== null || mailbox.next === null || mailbox.stopped) return mailbox;
  const history = await readLastTurn(tx, mailbox.lease, mailbox.activeBranch);
  await commit(tx, admit({ ...mailbox, history }, mailbox.next));
  const row = await read(tx, mailbox.lease.contextId);
  const begun = row === null ? null : await readMailbox(tx, row);
  if (begun === null) throw new Error('A locked context does not exist any more.');
  return begun.mailbox;
}

/** Appends the end of a job. The transaction has locked the context's row. The next claim continues with the queue. */
export async function appendLast(tx: Executor, transition: Append, jobId: JobId): Promise<AfterCommit[]> {
  // No run holds the context: whichever process claims it next takes the jobs that are still queued.
  const released: Append = { ...transition, park: transition.park ?? { status: 'runnable' } };
  const { headSeq, wakeSeq, met, followUp } = await commit(tx, released);
  const { tenantId, contextId, epoch } = transition.lease;
  const actions: AfterCommit[] = [
    { kind: 'job_end', end: { tenantId, contextId, jobId, headSeq } },
    ...wakeMetContexts(met),
  ];
  if (followUp) actions.push({ kind: 'follow_up' });
  return transition.park === null ? [...actions, { kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } }] : actions;
}

async function commit(tx: Executor, transition: Append) {
  const [outcome] = await append(tx, [transition]);
  if (outcome?.kind !== 'committed') throw new Error('A context changed although this transaction had locked its row.');
  return outcome;
}
