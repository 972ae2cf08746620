/**
 * Ends the job of a context that kills whoever takes it up, perhaps by its mere size: from the mailbox alone, in the
 * transaction that claimed it, so that nobody has to read its history.
 */
import { crashLoop } from '../core/decide.ts';
import type { Ids } from '../core/ids.ts';
import type { QueuedJob } from '../core/job.ts';
import { admit } from '../core/moves/admit.ts';
import { rest } from '../core/moves/park.ts';
import { settle } from '../core/moves/settle.ts';
import type { Mailbox } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { read } from '../db/contexts.ts';
import type { ContextRow } from '../db/contexts.ts';
import { readLastTurn, readMailbox } from '../db/mailbox.ts';
import type { Tidings } from './perform.ts';
import { appendLast, settleUnowned } from './settle.ts';

export type Ended = { kind: 'ended'; tidings: Tidings[] };

/** A job that was never admitted is admitted to fail: its input must not wait for ever behind it. Null: the worker is gone. */
export async function endBarren(tx: Executor, row: ContextRow, ids: Ids): Promise<Ended | null> {
  const mailbox = await look(tx, row);
  if (mailbox === null) return null;
  if (mailbox.job === null && (mailbox.stopped || mailbox.next === null)) {
    await append(tx, [rest(mailbox)]);
    return { kind: 'ended', tidings: [] };
  }
  const { contextId } = row.lease;
  if (mailbox.job !== null && mailbox.job.wish !== null) {
    return { kind: 'ended', tidings: await settleUnowned(tx, contextId, ids, true) };
  }
  const admitted =
    mailbox.next !== null && mailbox.job === null ? await begin(tx, mailbox, mailbox.next) : mailbox;
  if (admitted.job === null) throw new Error('A job that was admitted is not there.');
  const verdict = crashLoop(row.barrenClaims);
  const move = settle(admitted, admitted.job, verdict, ids);
  const finished = { jobId: admitted.job.id, status: verdict.status };
  return { kind: 'ended', tidings: await appendLast(tx, move, finished) };
}

async function begin(tx: Executor, mailbox: Mailbox, next: QueuedJob): Promise<Mailbox> {
  const history = await readLastTurn(tx, mailbox.lease, mailbox.activeBranch);
  await append(tx, [admit({ ...mailbox, history }, next)]);
  const row = await read(tx, mailbox.lease.contextId);
  const begun = row === null ? null : await look(tx, row);
  if (begun === null) throw new Error('A locked context vanished.');
  return begun;
}

async function look(tx: Executor, row: ContextRow): Promise<Mailbox | null> {
  return (await readMailbox(tx, row))?.mailbox ?? null;
}
