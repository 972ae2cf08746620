/**
 * Deliveries `queue` and `reject`: the input becomes a job of its own.
 *
 * - Checked: the branch, if one is named; this takes a transaction. All else is checked by the statement itself: the
 *   worker is not stopped, the queue is not full, and for `reject` no job is unfinished.
 * - Written: one statement, `jobs.submit_many`, or `jobs.submit` in a transaction. It writes nothing if a question
 *   waits that this input may answer; then answer-question.ts goes on, in a transaction.
 * - After the commit: a wake-up, if the context is due and no process runs it.
 * - Receipt: the new job, which is queued.
 */
import { admission } from '../../db/write/inputs/admission.ts';
import { submit } from '../../db/write/inputs/submit.ts';
import type { Executor } from '../../db/connection/client.ts';
import { performWithin, type AnyCommand, type Command, type OneStatement, type Outcome } from '../perform.ts';
import { answerQuestion, asAnswer } from './answer-question.ts';
import { newJob, queued } from './enqueue.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';
import { branchMissing, refusalOf } from './refusals.ts';

export function queueInput(ports: SubmitPorts, input: SubmitInput): AnyCommand<Accepted> {
  const unchecked: OneStatement<Accepted> = { statement: (executor) => queue(executor, ports, input) };
  if (input.branch === null) return unchecked;
  return async (tx) => (await branchMissing(tx, input)) ?? performWithin(tx, unchecked);
}

async function queue(
  executor: Executor,
  ports: SubmitPorts,
  input: SubmitInput,
): Promise<Outcome<Accepted> | Command<Accepted>> {
  const answer = asAnswer(input);
  const job = newJob(ports.ids, input);
  const onlyIfIdle = input.delivery === 'reject';
  // At the limit of the tenant it can only answer a question.
  const submitted =
    input.full === null ? await submit(executor, { ...input, ...job, mayAnswer: answer !== null, onlyIfIdle }) : null;
  if (submitted !== null) return queued(input.contextId, job, submitted);
  const state = await admission(executor, input.tenantId, input.contextId);
  const refusal = refusalOf(state, input);
  // `context_busy`: a question was waiting, and no longer does.
  const wasAsked = state?.asking === true || refusal.code === 'context_busy';
  return answer !== null && wasAsked ? answerQuestion(ports, input, answer) : refusal;
}
