/** One model call: build the prompt, call the model, and append the result. */
import { isToolUse } from '../../core/conversation/blocks.ts';
import { planCompaction } from '../../core/compaction/plan.ts';
import type { Fingerprint } from '../../core/model/fingerprint.ts';
import type { ThrottledAccess } from '../../core/run/throttle.ts';
import type { MessageId } from '../../core/ids.ts';
import type { ActiveJob, JobOutcome } from '../../core/run/job.ts';
import { formatModelName } from '../../core/model/model.ts';
import type { ModelAnswer, ModelFailure, ModelName } from '../../core/model/model.ts';
import type { CallTimes, ModelCall } from '../../core/model/model-call.ts';
import { answer, answerMessage, answered } from '../../core/transitions/answer.ts';
import { answerWithResults } from '../../core/transitions/answer-with-results.ts';
import { refused } from '../../core/transitions/compact.ts';
import { delay } from '../../core/transitions/park.ts';
import { settle } from '../../core/transitions/settle.ts';
import { FAILURE_RULES, retryAfter } from '../../core/run/retry.ts';
import type { Settings } from '../../core/workers/settings.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { Millis } from '../../core/time.ts';
import { beginCall } from './begin-call.ts';
import { append, commit, follow, lookUp, reread } from '../run.ts';
import type { After, AnswerListener, Run, UnderWay } from '../run.ts';
import { waitForTurn } from '../waits/wait-for-turn.ts';

export async function callModel(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
): Promise<After> {
  // The same for every attempt, so that subscribers who received an earlier attempt learn that it is void.
  const id = run.ids.answer(job.id, job.steps);
  const of = { jobId: job.id, messageId: id, attempt: job.attempt, epoch: snapshot.lease.epoch };
  const publisher = run.listener(of);
  const call = run.early?.take(snapshot, publisher) ?? begin(run, snapshot, job, settings, publisher);
  if ('kind' in call) return waitForTurn(run, snapshot, job, call);
  const outcome = await call.outcome;
  publisher.ended(outcome.kind === 'done');
  const made = { ...call.times(), prompt: call.prompt };
  switch (outcome.kind) {
    case 'done':
      return takeAnswer(run, snapshot, job, settings, id, outcome.answer, made);
    case 'failed':
      return isCompactable(snapshot, job, settings, outcome.failure)
        ? makeRoom(run, snapshot, job, settings, outcome.failure, made)
        : takeFailure(run, snapshot, job, settings.model, outcome.failure, made);
    case 'aborted':
      return endedUnanswered(run, job, await lookUp(run, snapshot));
  }
}

/** Data stored about a call; `prompt` is null for a call that asked for a summary. */
type Made<Prompt = Fingerprint | null> = CallTimes & { prompt: Prompt };

/** The started call, or the throttle. */
function begin(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  publisher: AnswerListener,
): UnderWay | ThrottledAccess {
  const access = run.model(settings.model.provider);
  if (access === null)
    throw new Error(
      `This process has no provider ${settings.model.provider}, which the worker's settings name.`,
    );
  if (access.kind === 'throttled') return access;
  return beginCall(run, access.model, snapshot, job, settings, run.signals.hard, publisher);
}

/** If the job continues, here or in another process, its model call is started again as a new attempt. */
export function endedUnanswered(run: Run, { id, attempt }: ActiveJob, now: Snapshot): Snapshot {
  const { job } = now;
  const goesOn = job?.id === id && job.stopRequest === null && (job.deadline ?? Infinity) > run.clock.now();
  return goesOn ? { ...now, job: { ...job, attempt: attempt + 1 } } : now;
}

/** An answer without calls ends the job in the same append. If that append is rejected, the answer is stored anyway. */
async function takeAnswer(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  id: MessageId,
  given: ModelAnswer,
  made: Made<Fingerprint>,
): Promise<After> {
  const modelCall: ModelCall = { kind: 'answered', messageId: id, attempt: job.attempt, ...made };
  const goesOn = given.content.some(isToolUse) || given.finishReason === 'pause';
  const end: JobOutcome = { status: 'completed', outputId: id };
  const said = goesOn
    ? answer(snapshot, job, settings, id, given, run.clock.now())
    : settle(snapshot, answered(job, given), end, run.ids, answerMessage(job, settings, id, given));
  const closed = await run.eager.begin({ snapshot, job, settings, given, said });
  const transition = { ...answerWithResults(snapshot, said, job, closed, run.ids), modelCall };
  const outcome = await append(run, transition);
  if (outcome.kind === 'committed') return follow(run, snapshot, transition, outcome);
  // Stale: another process wrote meanwhile. The answer still counts, and its calls are checked again against the
  // current state. In doubt: the first append cannot commit any more, so the stored history shows whether it contains
  // the answer.
  const now = await reread(run, snapshot, outcome);
  if (now.job?.id !== job.id || now.history.some((message) => message.id === id)) return now;
  return commit(run, now, {
    ...answer(now, { ...now.job, attempt: job.attempt }, settings, id, given, run.clock.now()),
    modelCall,
  });
}

/** A prompt that is too long is compacted and sent again only once. */
function isCompactable(
  snapshot: Snapshot,
  { lastFailure }: ActiveJob,
  settings: Settings,
  failure: ModelFailure,
): boolean {
  if (failure.class !== 'prompt_too_long') return false;
  const wasCompacted = lastFailure !== null && 'code' in lastFailure && lastFailure.compacted === true;
  return !wasCompacted && planCompaction(snapshot, settings, 'refused') !== null;
}

async function makeRoom(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  { model }: Settings,
  failure: ModelFailure,
  made: Made,
): Promise<After> {
  const modelCall = failedCall(job, model, failure, null, made);
  return commit(run, snapshot, { ...refused(snapshot, job, modelCall.error), modelCall });
}

type FailedCall = Extract<ModelCall, { kind: 'failed' }>;

function failedCall(
  { id: jobId, attempt }: ActiveJob,
  model: ModelName,
  failure: ModelFailure,
  retryAt: Millis | null,
  made: Made,
): FailedCall {
  const error = { code: FAILURE_RULES[failure.class].code, message: failure.message };
  return { kind: 'failed', jobId, attempt, model: formatModelName(model), error, retryAt, ...made };
}

export async function takeFailure(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  model: ModelName,
  failure: ModelFailure,
  made: Made,
): Promise<After> {
  const retry = retryAfter(failure, job.failures + 1, run.clock.now(), run.random());
  const modelCall = failedCall(job, model, failure, retry.kind === 'again' ? retry.at : null, made);
  const { error } = modelCall;
  switch (retry.kind) {
    case 'again':
      run.log.retry(job.id, error.code);
      return commit(run, snapshot, { ...delay(snapshot, job, error, retry.at), modelCall });
    case 'failed':
      return fail(run, snapshot, job, { status: 'failed', error }, modelCall);
  }
}

/** If another process wrote meanwhile, for example queued an input, the failure still counts. */
async function fail(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  end: JobOutcome,
  modelCall: ModelCall,
): Promise<After> {
  const transition = { ...settle(snapshot, job, end, run.ids), modelCall };
  const outcome = await append(run, transition);
  if (outcome.kind === 'committed') return follow(run, snapshot, transition, outcome);
  const now = await reread(run, snapshot, outcome);
  if (now.job?.id !== job.id || now.job.stopRequest !== null) return now;
  return commit(run, now, {
    ...settle(now, { ...now.job, attempt: job.attempt }, end, run.ids),
    modelCall,
  });
}
