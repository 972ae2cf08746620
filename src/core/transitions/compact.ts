/** Older messages are compacted: later prompts show a shorter form of them. */
import type { Append } from '../run/append.ts';
import type { NewCompaction } from '../compaction/compacted.ts';
import type { ContextCompacted } from '../stream/event.ts';
import type { JobError } from '../errors.ts';
import { failedAgain, wasRefused, type ActiveJob } from '../run/job.ts';
import type { CallTimes } from '../model/model-call.ts';
import type { Mailbox } from '../run/snapshot.ts';
import { toIso, toIsoOrNull } from '../time.ts';
import { addUsage, toPublicUsage } from '../money/usage.ts';
import { blank, event, stateChange } from './base.ts';

/** Guarded only by the epoch: a summary that was paid for is stored even if a stop request is on its way. */
export function compaction(mailbox: Mailbox, job: ActiveJob, made: NewCompaction, times: CallTimes): Append {
  return {
    ...blank(mailbox),
    entries: [
      event({ name: 'ContextCompacted', data: compactedData(job, made, times) }),
      ...stateChange(mailbox.state, 'AwaitingLLMResponse', job.id),
    ],
    compaction: made,
    job: { kind: 'progress', job: compacted(job, made) },
    state: 'AwaitingLLMResponse',
  };
}

/** Resets failures, except that the prompt was refused as too long: if it is refused again, the job fails. */
function compacted(job: ActiveJob, { usage }: NewCompaction): ActiveJob {
  return {
    ...job,
    status: 'running',
    failures: 0,
    retryAt: null,
    lastFailure: wasRefused(job) ? { ...job.lastFailure, compacted: true } : null,
    usage: usage === null ? job.usage : addUsage(job.usage, usage),
  };
}

function compactedData(
  { attempt }: ActiveJob,
  { id, branch, type, uptoSeq, tokensBefore, tokensAfter, jobId, model, usage }: NewCompaction,
  { calledAt, firstByteAt }: CallTimes,
): ContextCompacted {
  return {
    compaction_id: id,
    branch,
    type,
    upto_seq: uptoSeq,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    job_id: jobId,
    model,
    usage: usage === null ? null : toPublicUsage(usage),
    attempt,
    started_at: toIso(calledAt),
    first_token_at: toIsoOrNull(firstByteAt),
  };
}

/** The provider refused the prompt as too long: it is compacted next, and the model is called again. */
export function refused(mailbox: Mailbox, job: ActiveJob, failure: JobError): Append {
  return {
    ...blank(mailbox),
    job: { kind: 'progress', job: failedAgain(job, failure, null) },
  };
}
