/**
 * Where a branch is left by another one. Only what can no more be taken back is shared: nothing that an unfinished job has
 * added. A call stays with its results, and what a note of the platform's own tells of stays told.
 */
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { MessageId } from '../core/ids.ts';
import { branchReading, findBranch } from '../db/branches.ts';
import type { Branch } from '../db/branches.ts';
import type { Executor } from '../db/client.ts';
import { completeUpto, findStanding, isIncomplete, lastUpto, nextAfter } from '../db/fork-points.ts';
import type { Horizon, Standing } from '../db/fork-points.ts';
import type { Place } from '../db/history.ts';
import { reads } from '../core/branch.ts';
import { noBranch } from './submit-input.ts';

/** `seq`: of the last message that is shared; 0: none is. */
export type ForkPoint = { from: Branch; seq: number };

/**
 * Behind a message, or, where none is named, behind all of the branch that is complete. Refused: `not_found`,
 * `invalid_request`, `context_busy`.
 */
export async function forkPoint(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  branchName: string,
  messageId: MessageId | null,
): Promise<ForkPoint | Refusal> {
  const from = await findBranch(tx, place, branchName);
  if (from === null) return noBranch(branchName, 'from_branch');
  if (messageId === null) return { from, seq: await lastComplete(tx, place, horizon, from) };
  const found = await standing(tx, place, messageId, 'from_message_id');
  if ('code' in found) return found;
  if (!reads(from.spans, found)) {
    const message = `The branch ${from.name} does not show the message ${messageId}.`;
    return refuse('invalid_request', message, 'from_message_id');
  }
  return behind(tx, place, horizon, from, found);
}

/** Behind a message of whichever branch. */
export async function pointBehind(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  messageId: MessageId,
): Promise<ForkPoint | Refusal> {
  const found = await standing(tx, place, messageId, 'from_message_id');
  if ('code' in found) return found;
  const from = await branchReading(tx, place, found);
  return from === null ? notShown(messageId, 'from_message_id') : behind(tx, place, horizon, from, found);
}

/** Before an input: a branch from there has all that came before it. */
export async function pointBefore(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  messageId: MessageId,
): Promise<ForkPoint | Refusal> {
  const found = await standing(tx, place, messageId, null);
  if ('code' in found) return found;
  if (found.role !== 'user') return refuse('invalid_request', 'Only inputs are edited.');
  const from = await branchReading(tx, place, found);
  if (from === null) return notShown(messageId, null);
  const before = await lastUpto(tx, place, from.name, found.seq - 1);
  if (before !== null && isIncomplete(horizon, before)) return busy();
  return { from, seq: before?.seq ?? 0 };
}

/** Behind the input that a message is, or answers: what answers it anew begins there. */
export async function pointOfAnswer(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  messageId: MessageId,
): Promise<ForkPoint | Refusal> {
  const found = await standing(tx, place, messageId, null);
  if ('code' in found) return found;
  const from = await branchReading(tx, place, found);
  if (from === null) return notShown(messageId, null);
  const input = await lastUpto(tx, place, from.name, found.seq, 'user');
  if (input === null) return refuse('invalid_request', 'No input stands before this message.');
  return behind(tx, place, horizon, from, input);
}

/** The number of the last message of a branch that no unfinished job has added; 0: there is none. */
async function lastComplete(tx: Executor, place: Place, horizon: Horizon, { name }: Branch): Promise<number> {
  return (await lastUpto(tx, place, name, completeUpto(horizon, name)))?.seq ?? 0;
}

async function behind(
  tx: Executor,
  place: Place,
  horizon: Horizon,
  from: Branch,
  message: Standing,
): Promise<ForkPoint | Refusal> {
  if (isIncomplete(horizon, message)) return busy();
  const next = await nextAfter(tx, place, from.name, message.seq);
  const upto = Math.min(completeUpto(horizon, from.name), next === null ? Infinity : next.seq - 1);
  return { from, seq: (await lastUpto(tx, place, from.name, upto))?.seq ?? message.seq };
}

/** `param`: the member that names the message; null: the path does. */
async function standing(
  tx: Executor,
  place: Place,
  messageId: MessageId,
  param: string | null,
): Promise<Standing | Refusal> {
  const found = await findStanding(tx, place, messageId);
  switch (found?.kind) {
    case undefined:
      return refuse('not_found', `There is no message ${messageId}.`, param ?? undefined);
    case 'queued':
      return refuse('invalid_request', 'The message is still queued.', param ?? undefined);
    case 'retracted':
      return refuse('invalid_request', 'The message was taken back.', param ?? undefined);
    case 'stands':
      return found.message;
  }
}

function notShown(messageId: MessageId, param: string | null): Refusal {
  return refuse('not_found', `No branch shows the message ${messageId}.`, param ?? undefined);
}

function busy(): Refusal {
  return refuse('context_busy', 'A job that is unfinished made this message: it may still be taken back.');
}
