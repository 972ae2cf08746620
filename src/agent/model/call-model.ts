/** One model call: build the prompt, call the model, and append the result. */
import { isToolUse } from '../../core/conversation/blocks.ts';
import type { Fingerprint } from '../../core/model/fingerprint.ts';
import type { Append } from '../../core/run/append.ts';
import type { ThrottledAccess } from '../../core/run/throttle.ts';
import { throttledWait, unanswered, type ActiveJob } from '../../core/run/job.ts';
import type { ModelCall } from '../../core/model/model-call.ts';
import { answer, answeredAndJudged, completed, type NewAnswer } from '../../core/transitions/answer.ts';
import { answerWithResults } from '../../core/transitions/answer-with-results.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import { stopped } from './aborted-call.ts';
import { beginCall } from './begin-call.ts';
import { judgeAnswer } from './check-output.ts';
import { isCompactable, makeRoom, takeFailure, type MadeCall } from './failed-call.ts';
import { commitResult, readMailbox, type After, type AnswerListener, type Run, type UnderWay } from '../run.ts';
import { waitForTurn } from '../waits/wait-for-turn.ts';

export async function callModel(run: Run, snapshot: Snapshot, served: ServedJob): Promise<After> {
  const { job, settings } = served;
  // The same for every attempt, so that subscribers who received an earlier attempt learn that it is void.
  const id = run.ids.answer(job.id, job.steps);
  const of = { jobId: job.id, messageId: id, attempt: job.attempt, epoch: snapshot.lease.epoch };
  const publisher = run.listener(of);
  run.aborted.drop();
  const call = run.early?.take(snapshot, publisher) ?? begin(run, snapshot, served, publisher);
  if ('kind' in call) return waitForTurn(run, snapshot, job, call);
  const outcome = await call.outcome;
  publisher.ended(outcome.kind === 'done');
  const made = { ...call.times(), throttled: throttledWait(job), prompt: call.prompt };
  switch (outcome.kind) {
    case 'done':
      return takeAnswer(run, snapshot, served, { answer: { ...outcome.answer, id }, made });
    case 'failed': {
      const answer = { id, text: call.text() };
      const failed = { model: settings.model, failure: outcome.failure, made, answer };
      return isCompactable(snapshot, served, outcome.failure)
        ? makeRoom(run, snapshot, job, failed)
        : takeFailure(run, snapshot, job, failed);
    }
    case 'aborted':
      run.aborted.keep({ call: stopped(job, settings.model, made), answer: { id, text: call.text() } });
      return endedUnanswered(run, job, await readMailbox(run, snapshot));
  }
}

function begin(
  run: Run,
  snapshot: Snapshot,
  { job, settings }: ServedJob,
  publisher: AnswerListener,
): UnderWay | ThrottledAccess {
  const access = run.model(settings.model);
  if (access === null)
    throw new Error(`This process has no provider ${settings.model.provider}, which the worker's settings name.`);
  if (access.kind === 'throttled') return access;
  const { model } = access;
  return beginCall(run, snapshot, { job, settings }, { model, signal: run.signals.hard, forwardTo: publisher });
}

/** If the job continues, here or in another process, its model call is started again as a new attempt. */
export function endedUnanswered(run: Run, { id, attempt }: ActiveJob, now: Snapshot): Snapshot {
  const { job } = now;
  const goesOn = job?.id === id && job.stopRequest === null && (job.deadline ?? Infinity) > run.clock.now();
  return goesOn ? { ...now, job: unanswered({ ...job, attempt }) } : now;
}

type AnsweredCall = { answer: NewAnswer; made: MadeCall<Fingerprint> };

/**
 * An answer without calls ends the job in the same append, or asks for another one. If that append is rejected, the answer is
 * stored anyway.
 */
async function takeAnswer(
  run: Run,
  snapshot: Snapshot,
  served: ServedJob,
  { answer: given, made }: AnsweredCall,
): Promise<After> {
  const { job, settings } = served;
  const modelCall: ModelCall = { kind: 'answered', messageId: given.id, attempt: job.attempt, ...made };
  const goesOn = given.content.some(isToolUse) || given.finishReason === 'pause';
  const answerAppend = goesOn
    ? answer(snapshot, served, given, run.clock.now())
    : finalAnswer(run, snapshot, served, given);
  const unstored = { snapshot, job, settings, given, answerAppend };
  const closed = await run.eager.begin(unstored);
  const transition = { ...answerWithResults(unstored, closed), modelCall };
  return commitResult(run, snapshot, transition, (now) => {
    if (now.job?.id !== job.id || now.history.some((message) => message.id === given.id)) return null;
    // The calls of the answer are checked again against the current state.
    const current = { job: { ...now.job, attempt: job.attempt }, settings };
    return { ...answer(now, current, given, run.clock.now()), modelCall };
  });
}

function finalAnswer(run: Run, snapshot: Snapshot, served: ServedJob, given: NewAnswer): Append {
  const output = judgeAnswer(run, served, given);
  return output === null
    ? completed(snapshot, served, given)
    : answeredAndJudged(snapshot, served, given, { output, noteId: run.ids.next() });
}
