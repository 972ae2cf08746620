/**
 * Delivery `queue` while a question to a person waits: the input is the answer.
 *
 * - Checked: under the lock of the context's row, the oldest question of the branch. If none waits any more, or its job
 *   has a stop request, the input is queued.
 * - Written: the reply beside its call, `tool_calls.reply`.
 * - After the commit: a wake-up, if no process runs the context.
 * - Receipt: the job that asked; it waits until a run takes the answer.
 */
import { oldestQuestion } from '../../db/calls/replies.ts';
import { lockContext } from '../../db/write/contexts/branches.ts';
import { takeAnswer, type CallAnswer } from '../calls/answer-call.ts';
import type { Command } from '../perform.ts';
import { NORMAL, enqueueInput } from './enqueue.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';

export function answerQuestion(ports: SubmitPorts, input: SubmitInput, answer: CallAnswer): Command<Accepted> {
  return async (tx) => {
    const isThere = await lockContext(tx, input);
    // An input for one branch does not answer a question of another branch.
    const question = isThere ? await oldestQuestion(tx, input, input.branch) : null;
    if (question === null) return enqueueInput(tx, ports.ids, input);
    const { tenantId, contextId } = input;
    const target = { tenantId, contextId, toolCallId: question.id, jobId: question.jobId };
    return takeAnswer(tx, ports, target, answer);
  };
}

/**
 * The input as the answer to a question; null: it cannot be one. An input with its own priority is meant for the queue,
 * one with its own schema needs an answer of its own, and a document cannot be the result of a call.
 */
export function asAnswer({ delivery, priority, outputSchema, content }: SubmitInput): CallAnswer | null {
  if (delivery !== 'queue' || priority !== NORMAL || outputSchema !== null || content === null) return null;
  const parts = content.filter((block) => block.type !== 'document');
  const [first, ...more] = parts;
  if (first === undefined || parts.length < content.length) return null;
  return { content: first.type === 'text' && more.length === 0 ? first.text : parts, isError: false };
}
