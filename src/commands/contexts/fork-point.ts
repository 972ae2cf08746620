/**
 * Finds where a new branch leaves an existing one. They share only what can no longer be retracted: nothing that an
 * unfinished job has added. A call stays with its results, and a note of the platform with the message before it.
 */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { MessageId } from '../../core/ids.ts';
import { branchReading, findBranch, type Branch } from '../../db/write/contexts/branches.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  completeUpto,
  findMessage,
  isIncomplete,
  lastNumberUpto,
  lastUpto,
  nextAfter,
  type Horizon,
  type CompletedMessage,
} from '../../db/write/contexts/fork-points.ts';
import type { Place } from '../../db/run/places.ts';
import { reads } from '../../core/conversation/branch.ts';
import { noBranch } from '../inputs/refusals.ts';

/** `seq`: the number of the last shared message; 0: none. */
export type ForkPoint = { from: Branch; seq: number };

/**
 * After a message or, if none is named, after all of the branch that is complete. Refused: `not_found`,
 * `invalid_request`, `context_busy`.
 */
export async function forkPoint(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  { branch, messageId }: { branch: string; messageId: MessageId | null },
): Promise<ForkPoint | Refusal> {
  const from = await findBranch(tx, place, branch);
  if (from === null) return noBranch(branch, 'from_branch');
  if (messageId === null) return { from, seq: await lastComplete(tx, place, horizon, from) };
  const found = await completedMessage(tx, place, messageId, 'from_message_id');
  if ('code' in found) return found;
  if (!reads(from.spans, found)) {
    const message = `The branch ${from.name} does not contain the message ${messageId}.`;
    return refuse('invalid_request', message, 'from_message_id');
  }
  return behind(tx, place, horizon, { from, message: found });
}

/** After a message of any branch. */
export async function pointBehind(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  messageId: MessageId,
): Promise<ForkPoint | Refusal> {
  const found = await completedMessage(tx, place, messageId, 'from_message_id');
  if ('code' in found) return found;
  const from = await branchReading(tx, place, found);
  return from === null ? notShown(messageId, 'from_message_id') : behind(tx, place, horizon, { from, message: found });
}

/** Before an input: the new branch has all that came before the input. */
export async function pointBefore(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  messageId: MessageId,
): Promise<ForkPoint | Refusal> {
  const found = await completedMessage(tx, place, messageId);
  if ('code' in found) return found;
  if (found.role !== 'user') return refuse('invalid_request', 'You can edit only input messages.');
  const from = await branchReading(tx, place, found);
  if (from === null) return notShown(messageId);
  const before = await lastUpto(tx, place, from.name, { upto: found.seq - 1 });
  if (before !== null && isIncomplete(horizon, before)) return busy();
  return { from, seq: before?.seq ?? 0 };
}

/** After the input that the message is or answers: a new answer begins there. */
export async function pointOfAnswer(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  messageId: MessageId,
): Promise<ForkPoint | Refusal> {
  const found = await completedMessage(tx, place, messageId);
  if ('code' in found) return found;
  const from = await branchReading(tx, place, found);
  if (from === null) return notShown(messageId);
  const input = await lastUpto(tx, place, from.name, { upto: found.seq, role: 'user' });
  if (input === null) return refuse('invalid_request', 'There is no input before this message.');
  return behind(tx, place, horizon, { from, message: input });
}

/** The number of the last message of a branch that no unfinished job has added; 0: none. */
async function lastComplete(tx: Executor, place: Place, horizon: Horizon, { name }: Branch): Promise<number> {
  return lastNumberUpto(tx, place, name, completeUpto(horizon, name));
}

async function behind(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  { from, message }: { from: Branch; message: CompletedMessage },
): Promise<ForkPoint | Refusal> {
  if (isIncomplete(horizon, message)) return busy();
  const next = await nextAfter(tx, place, from.name, message.seq);
  const upto = Math.min(completeUpto(horizon, from.name), next === null ? Infinity : next.seq - 1);
  return { from, seq: (await lastUpto(tx, place, from.name, { upto }))?.seq ?? message.seq };
}

/** `param`: the field that names the message; without one, the path names it. */
async function completedMessage(
  tx: Executor,
  place: Place,
  messageId: MessageId,
  param?: string,
): Promise<CompletedMessage | Refusal> {
  const found = await findMessage(tx, place, messageId);
  switch (found?.kind) {
    case undefined:
      return refuse('not_found', `No message has the id ${messageId}.`, param);
    case 'delayed':
      return refuse('invalid_request', 'The message is delayed: it is not in the history yet.', param);
    case 'queued':
      return refuse('invalid_request', 'The message is still queued.', param);
    case 'retracted':
      return refuse('invalid_request', 'The message was retracted.', param);
    case 'completed':
      return found.message;
  }
}

function notShown(messageId: MessageId, param?: string): Refusal {
  return refuse('not_found', `No branch contains the message ${messageId}.`, param);
}

function busy(): Refusal {
  return refuse('context_busy', 'An unfinished job added this message and may still retract it. Wait for its end.');
}
