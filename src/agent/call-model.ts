/** One model call: assemble the prompt, call, and append what came of it. */
import { isToolUse } from '../core/blocks.ts';
import type { MessageId } from '../core/ids.ts';
import type { ActiveJob, Verdict } from '../core/job.ts';
import { formatModelName } from '../core/model.ts';
import type { ModelAnswer, ModelFailure, ModelRequest } from '../core/model.ts';
import type { CallTimes, ModelCall } from '../core/model-call.ts';
import { answer, answerMessage, answered } from '../core/moves/answer.ts';
import { delay } from '../core/moves/park.ts';
import { settle } from '../core/moves/settle.ts';
import { assemble } from '../core/prompt.ts';
import { FAILURE_RULES, retryAfter } from '../core/retry.ts';
import type { Settings } from '../core/settings.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { append, commit, follow, lookUp, reread } from './run.ts';
import type { After, Run } from './run.ts';
import { timed } from './timed.ts';
import { untilDeadline } from './until-deadline.ts';
import { waitForTurn } from './wait-for-turn.ts';

export async function callModel(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
): Promise<After> {
  const access = run.model(settings.model.provider);
  if (access === null)
    throw new Error(`Settings name a provider that is not here: ${settings.model.provider}.`);
  if (access.kind === 'held') return waitForTurn(run, snapshot, job, access);
  const request = toRequest(snapshot, job, settings);
  run.log.prompt(job.id, request.messages);
  // The same at every attempt: whoever heard an earlier one is told that it is void.
  const id = run.ids.answer(job.id, job.steps);
  const of = { jobId: job.id, messageId: id, attempt: job.attempt, epoch: snapshot.lease.epoch };
  const narrator = run.listener(of);
  const { listener, times } = timed(run.clock, narrator);
  const outcome = await untilDeadline(run.clock, job, run.attention.soft, (signal) =>
    access.model.call(request, listener, signal),
  );
  narrator.ended(outcome.kind === 'done');
  switch (outcome.kind) {
    case 'done':
      return takeAnswer(run, snapshot, job, settings, id, outcome.answer, times());
    case 'failed':
      return takeFailure(run, snapshot, job, settings, outcome.failure, times());
    case 'aborted':
      return endedUnanswered(run, job, await lookUp(run, snapshot));
  }
}

/** Where the job goes on, here or elsewhere, its model call is begun again: a new attempt. */
function endedUnanswered(run: Run, { id, attempt }: ActiveJob, now: Snapshot): Snapshot {
  const { job } = now;
  const goesOn = job?.id === id && job.wish === null && (job.deadline ?? Infinity) > run.clock.now();
  return goesOn ? { ...now, job: { ...job, attempt: attempt + 1 } } : now;
}

function toRequest(snapshot: Snapshot, job: ActiveJob, settings: Settings): ModelRequest {
  return {
    model: settings.model,
    system: settings.systemPrompt,
    messages: assemble(snapshot.history),
    tools: settings.tools,
    maxTokens: settings.maxTokens,
    streaming: settings.streaming,
    parameters: settings.parameters,
    cacheKey: `${snapshot.lease.contextId}/${snapshot.activeBranch}`,
    failures: job.failures,
  };
}

/** An answer without calls ends the job in the same append. Where that is not taken, the answer is kept all the same. */
async function takeAnswer(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  id: MessageId,
  given: ModelAnswer,
  times: CallTimes,
): Promise<After> {
  const modelCall: ModelCall = { kind: 'answered', messageId: id, attempt: job.attempt, ...times };
  const goesOn = given.content.some(isToolUse) || given.finishReason === 'pause';
  const verdict: Verdict = { status: 'completed', outputId: id };
  const said = goesOn
    ? answer(snapshot, job, settings, id, given)
    : settle(snapshot, answered(job, given), verdict, run.ids, answerMessage(job, settings, id, given));
  const move = { ...said, modelCall };
  const outcome = await append(run, move);
  if (outcome.kind === 'committed') return follow(run, snapshot, move, outcome);
  // Stale: others wrote meanwhile, and the answer still counts. In doubt: nothing more can come of what was sent, and what
  // is stored tells whether the answer is there.
  const now = await reread(run, snapshot, outcome);
  if (now.job?.id !== job.id || now.history.some((message) => message.id === id)) return now;
  return commit(run, now, {
    ...answer(now, { ...now.job, attempt: job.attempt }, settings, id, given),
    modelCall,
  });
}

async function takeFailure(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  failure: ModelFailure,
  times: CallTimes,
): Promise<After> {
  const error = { code: FAILURE_RULES[failure.class].code, message: failure.message };
  const retry = retryAfter(failure, job.failures + 1, run.clock.now(), run.random());
  const modelCall: ModelCall = {
    kind: 'failed',
    jobId: job.id,
    attempt: job.attempt,
    model: formatModelName(settings.model),
    error,
    retryAt: retry.kind === 'again' ? retry.at : null,
    ...times,
  };
  switch (retry.kind) {
    case 'again':
      run.log.retry(job.id, error.code);
      return commit(run, snapshot, { ...delay(snapshot, job, error, retry.at), modelCall });
    case 'failed':
      return fail(run, snapshot, job, { status: 'failed', error }, modelCall);
  }
}

/** Where others wrote meanwhile, an input that was queued for example, the failure still stands: it was asked and answered. */
async function fail(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  verdict: Verdict,
  modelCall: ModelCall,
): Promise<After> {
  const move = { ...settle(snapshot, job, verdict, run.ids), modelCall };
  const outcome = await append(run, move);
  if (outcome.kind === 'committed') return follow(run, snapshot, move, outcome);
  const now = await reread(run, snapshot, outcome);
  if (now.job?.id !== job.id || now.job.wish !== null) return now;
  return commit(run, now, {
    ...settle(now, { ...now.job, attempt: job.attempt }, verdict, run.ids),
    modelCall,
  });
}
