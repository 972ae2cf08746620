/** A job, and what became of a wish to stop one, as they leave. */
import { textOf } from '../../core/blocks.ts';
import { isFinished } from '../../core/job.ts';
import type { JobId } from '../../core/ids.ts';
import type { JobView, ReceiptView } from '../../db/job-views.ts';
import { toIso, toIsoOrNull } from '../instant.ts';
import type { Job, Receipt } from '../schemas/job.ts';
import { toUsage } from './usage.ts';

/** `error` says how a job ended: why an unfinished one is delayed is told by the state of its context. */
export function toJob(view: JobView): Job {
  return {
    id: view.id,
    kind: view.kind,
    context_id: view.contextId,
    worker_id: view.workerId,
    branch: view.branch,
    status: view.status,
    attempt: view.attempt,
    retry_at: toIsoOrNull(view.retryAt),
    steps: view.steps,
    usage: toUsage(view.usage),
    waiting_for:
      view.status === 'waiting' && view.retryAt !== null
        ? [{ kind: 'timer', until: toIso(view.retryAt) }]
        : [],
    output:
      view.output === null ? null : { message_id: view.output.messageId, text: textOf(view.output.content) },
    error: isFinished(view.status) ? view.error : null,
    parent_job_id: view.parentJobId,
    created_at: toIso(view.createdAt),
    started_at: toIsoOrNull(view.startedAt),
    finished_at: toIsoOrNull(view.finishedAt),
    metadata: view.metadata,
  };
}

export function toReceipt(id: JobId, view: ReceiptView): Receipt {
  return {
    job_id: id,
    status: view.status,
    requested_at: toIsoOrNull(view.requestedAt),
    delivered_at: toIsoOrNull(view.deliveredAt),
    stopped_at: toIsoOrNull(view.stoppedAt),
  };
}
