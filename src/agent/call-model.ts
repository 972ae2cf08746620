/** One model call: assemble the prompt, call, and append what came of it. */
import { isToolUse } from '../core/blocks.ts';
import type { MessageId } from '../core/ids.ts';
import type { ActiveJob, Verdict } from '../core/job.ts';
import type { ModelAnswer, ModelFailure, ModelRequest } from '../core/model.ts';
import { answer, answerMessage, answered } from '../core/moves/answer.ts';
import { delay } from '../core/moves/park.ts';
import { settle } from '../core/moves/settle.ts';
import { assemble } from '../core/prompt.ts';
import { FAILURE_RULES, retryAfter } from '../core/retry.ts';
import type { Settings } from '../core/settings.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { append, commit, follow, lookUp, reread } from './run.ts';
import type { After, Run } from './run.ts';
import { untilDeadline } from './until-deadline.ts';

export async function callModel(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
): Promise<After> {
  const model = run.model(settings.model.provider);
  if (model === null)
    throw new Error(`Settings name a provider that is not here: ${settings.model.provider}.`);
  const request = toRequest(snapshot, job, settings);
  run.log.prompt(job.id, request.messages);
  const outcome = await untilDeadline(run.clock, job, run.attention.soft, (signal) =>
    model.call(request, run.listener(snapshot), signal),
  );
  switch (outcome.kind) {
    case 'done':
      return takeAnswer(run, snapshot, job, settings, outcome.answer);
    case 'failed':
      return takeFailure(run, snapshot, job, outcome.failure);
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
  given: ModelAnswer,
): Promise<After> {
  const id = run.ids.next<MessageId>();
  const goesOn = given.content.some(isToolUse) || given.finishReason === 'pause';
  const verdict: Verdict = { status: 'completed', outputId: id };
  const move = goesOn
    ? answer(snapshot, job, settings, id, given)
    : settle(snapshot, answered(job, given), verdict, run.ids, answerMessage(job, settings, id, given));
  const outcome = await append(run, move);
  if (outcome.kind === 'committed') return follow(run, snapshot, move, outcome);
  // Stale: others wrote meanwhile, and the answer still counts. In doubt: nothing more can come of what was sent, and what
  // is stored tells whether the answer is there.
  const now = await reread(run, snapshot, outcome);
  if (now.job?.id !== job.id || now.history.some((message) => message.id === id)) return now;
  return commit(run, now, answer(now, { ...now.job, attempt: job.attempt }, settings, id, given));
}

async function takeFailure(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  failure: ModelFailure,
): Promise<After> {
  const error = { code: FAILURE_RULES[failure.class].code, message: failure.message };
  const retry = retryAfter(failure, job.failures + 1, run.clock.now(), run.random());
  switch (retry.kind) {
    case 'again':
      return commit(run, snapshot, delay(snapshot, job, error, retry.at));
    case 'failed':
      return fail(run, snapshot, job, { status: 'failed', error });
  }
}

/** Where others wrote meanwhile, an input that was queued for example, the failure still stands: it was asked and answered. */
async function fail(run: Run, snapshot: Snapshot, job: ActiveJob, verdict: Verdict): Promise<After> {
  const move = settle(snapshot, job, verdict, run.ids);
  const outcome = await append(run, move);
  if (outcome.kind === 'committed') return follow(run, snapshot, move, outcome);
  const now = await reread(run, snapshot, outcome);
  if (now.job?.id !== job.id || now.job.wish !== null) return now;
  return commit(run, now, settle(now, { ...now.job, attempt: job.attempt }, verdict, run.ids));
}
