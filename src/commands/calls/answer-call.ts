/**
 * Answers a call that is answered from outside: a question to a person, or a tool that a client runs. The answer is
 * stored with the call, and the current or next run of the context adds it to history.
 */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ResultPart } from '../../core/conversation/blocks.ts';
import {
  resultOf,
  type ContextId,
  type JobId,
  type MessageId,
  type TenantId,
  type ToolCallId,
} from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { lockContext } from '../../db/write/contexts/branches.ts';
import { findAskedCall, writeReply, type AskedCall } from '../../db/calls/replies.ts';
import { wakeUpIfRunnable } from '../after-commit.ts';
import { noCall } from '../inputs/refusals.ts';
import { done, type Command, type Done } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type Target = { tenantId: TenantId; contextId: ContextId; toolCallId: ToolCallId };

export type CallAnswer = { content: string | ResultPart[]; isError: boolean };

/** `messageId`: the id of the answer in history. `after`: the context's event number when the answer was accepted. */
export type Answered = {
  jobId: JobId;
  messageId: MessageId;
  contextId: ContextId;
  /** Of the job: no run has taken the answer yet. */
  status: 'waiting';
  after: number;
};

/** Refused: `not_found`, `invalid_request` (the platform runs the call), `not_waiting`. */
export function answerCall(
  ports: Pick<CommandPorts, 'boundResult'>,
  target: Target,
  answer: CallAnswer,
): Command<Answered> {
  return async (tx) => {
    const call = (await lockContext(tx, target)) ? await findAskedCall(tx, target, target.toolCallId) : null;
    if (call === null) return noCall(target);
    return whyNot(call) ?? takeAnswer(tx, ports, { ...target, jobId: call.jobId }, answer);
  };
}

/** The call waits for an answer, and the row of its context is locked. */
export async function takeAnswer(
  tx: Executor,
  { boundResult }: Pick<CommandPorts, 'boundResult'>,
  { jobId, ...target }: Target & { jobId: JobId },
  answer: CallAnswer,
): Promise<Done<Answered>> {
  const { contextId, toolCallId } = target;
  const replied = await writeReply(tx, target, toolCallId, { ...answer, content: boundResult(answer.content) });
  const messageId = resultOf(toolCallId);
  const answered = { jobId, messageId, contextId, status: 'waiting', after: replied.headSeq } as const;
  return done(answered, ...wakeUpIfRunnable(contextId, replied));
}

function whyNot({ asked, unapproved, status, replied, ending }: AskedCall): Refusal | null {
  if (unapproved) return refuse('not_waiting', 'This call waits for approval, not for a result.');
  if (!asked) return refuse('invalid_request', 'The platform runs this call, so it cannot be answered from outside.');
  if (replied) return refuse('not_waiting', 'This call was already answered.');
  if (status !== 'waiting') return refuse('not_waiting', `This call has ended: its status is ${status}.`);
  return ending ? refuse('not_waiting', 'The job of this call is being stopped.') : null;
}
