/**
 * Ends the job of a context that kills every process that claims it: from the mailbox alone, without reading the history,
 * in a transaction that has locked the claimed row.
 */
import type { Ids } from '../../core/ids.ts';
import type { JobOutcome } from '../../core/run/job.ts';
import { rest } from '../../core/transitions/park.ts';
import { settle } from '../../core/transitions/settle.ts';
import { append } from '../../db/run/append/append.ts';
import type { Executor } from '../../db/connection/client.ts';
import type { ContextRow } from '../../db/run/contexts.ts';
import { readMailbox } from '../../db/run/mailbox/mailbox.ts';
import type { AfterCommit } from '../after-commit.ts';
import { appendLast, settleUnowned, withJobBegun } from '../jobs/settle.ts';

export type Ended = { kind: 'ended'; afterCommit: AfterCommit[] };

/**
 * A job that was never admitted is admitted to fail, so that its input does not block the queue. Null: the worker was
 * deleted.
 */
export async function endUnread(tx: Executor, row: ContextRow, ids: Ids, outcome: JobOutcome): Promise<Ended | null> {
  const stored = await readMailbox(tx, row);
  if (stored === null) return null;
  const { mailbox } = stored;
  if (mailbox.job === null && (mailbox.stopped || mailbox.next === null)) {
    await append(tx, [rest(mailbox)]);
    return { kind: 'ended', afterCommit: [] };
  }
  if ((mailbox.job ?? mailbox.next)?.stopRequest) {
    return { kind: 'ended', afterCommit: await settleUnowned(tx, row.lease.contextId, ids, true) };
  }
  const admitted = await withJobBegun(tx, mailbox);
  if (admitted.job === null) throw new Error('The admitted job is missing.');
  const transition = settle(admitted, admitted.job, outcome);
  return { kind: 'ended', afterCommit: await appendLast(tx, transition, admitted.job.id) };
}
