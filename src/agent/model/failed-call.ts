/** A model call failed: the prompt is compacted, the call is retried, or the job fails. */
import { settingsFor } from '../../core/run/output.ts';
import { planCompaction } from '../../core/compaction/plan.ts';
import type { Fingerprint } from '../../core/model/fingerprint.ts';
import { formatModelName, type ModelFailure, type ModelName } from '../../core/model/model.ts';
import type { CallStart, FailedCall } from '../../core/model/model-call.ts';
import type { Append } from '../../core/run/append.ts';
import type { ActiveJob, JobOutcome } from '../../core/run/job.ts';
import { FAILURE_RULES, retryAfter } from '../../core/run/retry.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import type { Millis } from '../../core/time.ts';
import { refused } from '../../core/transitions/compact.ts';
import { delay } from '../../core/transitions/park.ts';
import { withPartial, type Unfinished } from '../../core/transitions/end.ts';
import { settle } from '../../core/transitions/settle.ts';
import { commit, commitResult, type After, type Run } from '../run.ts';

/** Data stored about a call; `prompt` is null for a call that asked for a summary. */
export type MadeCall<Prompt = Fingerprint | null> = CallStart & { prompt: Prompt };

/** `answer`: as far as it was streamed; null: the call asked for a summary. */
type NewFailure = { model: ModelName; failure: ModelFailure; made: MadeCall; answer: Unfinished | null };

/** A prompt that is too long is compacted and sent again only once. */
export function isCompactable(snapshot: Snapshot, { job, settings }: ServedJob, failure: ModelFailure): boolean {
  if (failure.class !== 'prompt_too_long') return false;
  const { lastFailure } = job;
  const wasCompacted = lastFailure !== null && 'code' in lastFailure && lastFailure.compacted === true;
  return !wasCompacted && planCompaction(snapshot, settingsFor(job, settings), 'refused') !== null;
}

export async function makeRoom(run: Run, snapshot: Snapshot, job: ActiveJob, failed: NewFailure): Promise<After> {
  const modelCall = toModelCall(job, failed, null);
  return commit(run, snapshot, { ...refused(snapshot, job, modelCall.error), modelCall });
}

export async function takeFailure(run: Run, snapshot: Snapshot, job: ActiveJob, failed: NewFailure): Promise<After> {
  const retry = retryAfter(failed.failure, job.failures + 1, run.clock.now(), run.random());
  const modelCall = toModelCall(job, failed, retry.kind === 'again' ? retry.at : null);
  const { error } = modelCall;
  switch (retry.kind) {
    case 'again':
      run.log.retry(job.id, error.code);
      return commit(run, snapshot, { ...delay(snapshot, job, error, retry.at), modelCall });
    case 'failed':
      return fail(run, snapshot, job, { modelCall, answer: failed.answer });
  }
}

function toModelCall(
  { id: jobId, attempt }: ActiveJob,
  { model, failure, made }: NewFailure,
  retryAt: Millis | null,
): FailedCall {
  const error = { code: FAILURE_RULES[failure.class].code, message: failure.message };
  return { kind: 'failed', jobId, attempt, model: formatModelName(model), error, retryAt, ...made };
}

/** If another process wrote meanwhile, for example queued an input, the failure still counts. */
async function fail(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  { modelCall, answer }: { modelCall: FailedCall; answer: Unfinished | null },
): Promise<After> {
  const end: JobOutcome = { status: 'failed', error: modelCall.error };
  const ended = (mailbox: Snapshot, failedJob: ActiveJob): Append => {
    const settled = { ...settle(mailbox, failedJob, end), modelCall };
    return withPartial(settled, answer, run.clock.now());
  };
  // A stop request may end the job first.
  run.aborted.keep({ call: modelCall, answer });
  return commitResult(run, snapshot, ended(snapshot, job), (now) => {
    if (now.job?.id !== job.id || now.job.stopRequest !== null) return null;
    return ended(now, { ...now.job, attempt: job.attempt });
  });
}
