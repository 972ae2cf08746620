/** Converts jobs and receipts of stop requests to their API form. */
import { textOf } from '../../core/conversation/blocks.ts';
import { parseOutput } from '../../core/run/output.ts';
import { isFinished } from '../../core/run/job.ts';
import type { JobId } from '../../core/ids.ts';
import type { WaitsFor } from '../../core/tools/tool-call.ts';
import { NO_USAGE, toPublicUsage } from '../../core/money/usage.ts';
import type { SubmittedJobView } from '../../db/submissions/submitted-jobs.ts';
import type { AwaitedBelow } from '../../db/calls/awaited-below.ts';
import type { AwaitedWorker } from '../../db/calls/awaited.ts';
import type { JobView } from '../../db/read/jobs/job-views.ts';
import type { WorkerOfJob } from '../../db/read/jobs/shown-of-job.ts';
import type { ReceiptView } from '../../db/run/receipts.ts';
import type { AwaitedCall } from '../../db/calls/replies.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import type { JobCompaction } from '../schemas/contexts/compaction.ts';
import type { Job, Receipt } from '../schemas/jobs/job.ts';

/** The model that a worker uses unless a call names another. */
type ModelOf = (worker: WorkerOfJob) => string;

/** `error` is only for finished jobs. The state of the context explains why an unfinished job is delayed. */
export function toJob(view: JobView, modelOf: ModelOf): Job {
  const { input } = view;
  return {
    id: view.id,
    kind: view.kind,
    ...placeOf(view, modelOf),
    input: input === null ? null : { message_id: input.messageId, text: input.text },
    status: view.status,
    attempt: view.attempt,
    retry_at: toIsoOrNull(view.retryAt),
    starts_at: toIsoOrNull(view.startsAt),
    steps: view.steps,
    usage: toPublicUsage(view.usage),
    waiting_for: waitingFor(view),
    output: view.output === null ? null : toOutput(view.output),
    error: isFinished(view.status) ? view.error : null,
    parent_job_id: view.parentJobId,
    created_at: toIso(view.createdAt),
    started_at: toIsoOrNull(view.startedAt),
    finished_at: toIsoOrNull(view.finishedAt),
    metadata: view.metadata,
    compaction: view.compaction === null ? null : toCompaction(view.compaction),
  };
}

/** A submission that is no job yet, or became none: nothing of it has run. */
export function toSubmittedJob(view: SubmittedJobView, modelOf: ModelOf): Job {
  const { messageId } = view;
  return {
    id: view.id,
    kind: 'input',
    ...placeOf(view, modelOf),
    input: messageId === null ? null : { message_id: messageId, text: view.text },
    status: view.status,
    attempt: 0,
    retry_at: null,
    starts_at: null,
    steps: 0,
    usage: toPublicUsage(NO_USAGE),
    waiting_for: [],
    output: null,
    error: view.error,
    parent_job_id: null,
    created_at: toIso(view.createdAt),
    started_at: null,
    finished_at: toIsoOrNull(view.finishedAt),
    metadata: view.metadata ?? {},
    compaction: null,
  };
}

/** Whose job it is, and where it runs. */
function placeOf(
  { contextId, workerId, worker, user, branch }: Pick<JobView, 'contextId' | 'workerId' | 'worker' | 'user' | 'branch'>,
  modelOf: ModelOf,
) {
  return {
    context_id: contextId,
    context_title: worker.title,
    worker_id: workerId,
    worker_name: worker.name,
    role: worker.role,
    model: modelOf(worker),
    user,
    branch,
  };
}

function toOutput({ messageId, content, hasData }: NonNullable<JobView['output']>): NonNullable<Job['output']> {
  const text = textOf(content);
  return { message_id: messageId, text, data: hasData ? (parseOutput(text) ?? null) : null };
}

function toCompaction({ asked, tokens }: NonNullable<JobView['compaction']>): JobCompaction {
  return {
    type: asked.type ?? null,
    keep_turns: asked.keep_turns ?? null,
    model: asked.model ?? null,
    tokens_before: tokens?.before ?? null,
    tokens_after: tokens?.after ?? null,
  };
}

function waitingFor({ status, retryAt, awaited, workers }: JobView): Job['waiting_for'] {
  if (status !== 'waiting') return [];
  return [
    ...awaited.map(toAwaited),
    ...workers.map(toAwaitedWorker),
    ...(retryAt === null ? [] : [{ kind: 'timer' as const, until: toIso(retryAt) }]),
  ];
}

export function toAwaited({ id, name, for: what, until }: AwaitedCall): Job['waiting_for'][number] {
  const awaited = { kind: AWAITED[what], tool_call_id: id, name };
  return until === null ? awaited : { ...awaited, until: toIso(until) };
}

/** Resolving an unknown outcome is a decision of a person, so its kind is approval. */
const AWAITED = {
  approval: 'approval',
  answer: 'input',
  outcome: 'approval',
  workers: 'worker',
  timer: 'timer',
} as const satisfies Record<WaitsFor, Job['waiting_for'][number]['kind']>;

export function toAwaitedWorker({ id, name, workerId }: AwaitedWorker): Job['waiting_for'][number] {
  return { kind: 'worker', tool_call_id: id, name, worker_id: workerId };
}

export function toAwaitedBelow(call: AwaitedBelow): Job['waiting_for'][number] {
  const { id, name, workerId } = call;
  return { kind: AWAITED[call.for], tool_call_id: id, name, worker_id: workerId };
}

export function toSubmittedReceipt({ id, status, finishedAt }: SubmittedJobView): Receipt {
  const cancelledAt = status === 'cancelled' ? toIsoOrNull(finishedAt) : null;
  return { job_id: id, status, requested_at: cancelledAt, delivered_at: null, stopped_at: cancelledAt };
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
