/**
 * The body of a delivery: `{type, timestamp, data}`, as Standard Webhooks has it. It is made once, so every attempt sends
 * the same bytes.
 */
import { cut } from '../cut.ts';
import type { JobError } from '../errors.ts';
import type { ContextId, JobId, MessageId, WebhookId, WorkerId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import { parseOutput } from '../run/output.ts';
import { toIso, toIsoOrNull, type Millis } from '../time.ts';
import type { User } from '../access/user.ts';
import type { Notice } from './notices.ts';
import { TEST_EVENT } from './webhook.ts';

/** A job as it is when the body is made. */
export type JobFacts = {
  jobId: JobId;
  contextId: ContextId;
  workerId: WorkerId;
  workerName: string;
  role: string | null;
  user: User | null;
  metadata: JsonObject;
  createdAt: Millis;
  startedAt: Millis | null;
  finishedAt: Millis | null;
  error: JobError | null;
  /** `text`: its beginning. `hasData`: the whole text is JSON that matches the schema of the job. */
  output: { messageId: MessageId; text: string; hasData: boolean } | null;
};

/** Characters of an output that are shown. */
export const OUTPUT_CHARS = 4_000;
/** A member whose JSON is longer is left out. */
const MEMBER_CHARS = 8_000;

export function bodyOf(notice: Notice, job: JobFacts, { seq, at }: { seq: number; at: Millis }): string {
  const { contextId: context_id, workerId: worker_id, workerName: worker_name, role, user } = job;
  const members: JsonObject = {
    job_id: job.jobId,
    seq,
    ...statusOf(notice),
    context_id,
    worker_id,
    worker_name,
    role,
    user,
    metadata: job.metadata,
    ...detailsOf(notice, job),
  };
  const { kept, omitted } = withoutLarge(members);
  return JSON.stringify({ type: notice.type, timestamp: toIso(at), data: { ...kept, omitted } });
}

export function testBody(webhookId: WebhookId, at: Millis): string {
  return JSON.stringify({ type: TEST_EVENT, timestamp: toIso(at), data: { webhook_id: webhookId } });
}

/** Of the job, when the event happened. */
function statusOf(notice: Notice): JsonObject {
  switch (notice.type) {
    case 'job.started':
      return { status: 'running' };
    case 'job.waiting':
    case 'approval.requested':
      return { status: 'waiting' };
    case 'job.finished':
      return { status: notice.status };
    case 'worker.failed':
      return { status: 'failed' };
    case 'approval.resolved':
      return {};
  }
}

function detailsOf(notice: Notice, job: JobFacts): JsonObject {
  switch (notice.type) {
    case 'job.started':
      return timesOf(job, { isFinished: false });
    case 'job.waiting':
      return { ...timesOf(job, { isFinished: false }), waiting_for: notice.waitingFor };
    case 'job.finished':
    case 'worker.failed':
      return { ...timesOf(job, { isFinished: true }), output: outputOf(job), error: job.error };
    case 'approval.requested':
    case 'approval.resolved':
      return { approval: withoutJob(notice.approval) };
  }
}

function timesOf({ createdAt, startedAt, finishedAt }: JobFacts, { isFinished }: { isFinished: boolean }): JsonObject {
  const times = { created_at: toIso(createdAt), started_at: toIsoOrNull(startedAt) };
  return isFinished ? { ...times, finished_at: toIsoOrNull(finishedAt) } : times;
}

function outputOf({ output }: JobFacts): Json {
  if (output === null) return null;
  const shown = cut(output.text, OUTPUT_CHARS);
  const truncated = shown.length < output.text.length;
  const data = output.hasData && !truncated ? (parseOutput(shown) ?? null) : null;
  return { message_id: output.messageId, text: shown, truncated, data };
}

function withoutJob(approval: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(approval).filter(([name]) => name !== 'job_id'));
}

/** `omitted`: the members that are too large, by their path. */
function withoutLarge(members: JsonObject): { kept: JsonObject; omitted: string[] } {
  const omitted: string[] = [];
  const small = (value: Json, path: string): Json => {
    if (JSON.stringify(value).length <= MEMBER_CHARS) return value;
    omitted.push(path);
    return null;
  };
  const kept = Object.fromEntries(
    Object.entries(members).map(([name, value]): [string, Json] => {
      if (name === 'metadata') return [name, small(value, name)];
      if (name !== 'approval' || typeof value !== 'object' || value === null || Array.isArray(value))
        return [name, value];
      return [name, { ...value, input: small(value['input'] ?? null, 'approval.input') }];
    }),
  );
  return { kept, omitted };
}
