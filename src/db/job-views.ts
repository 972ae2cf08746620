/** Jobs as clients read them. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Block } from '../core/blocks.ts';
import type { JobError } from '../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId, WorkerId } from '../core/ids.ts';
import type { JobKind, JobStatus } from '../core/job.ts';
import type { JsonObject } from '../core/json.ts';
import type { Effect } from '../core/tool.ts';
import type { CallStatus } from '../core/tool-call.ts';
import type { Millis } from '../core/time.ts';
import type { Usage } from '../core/usage.ts';
import type { Executor } from './client.ts';
import { encodeJson } from './codec.ts';
import { millis, toTimestamp } from './instant.ts';

export type JobView = {
  id: JobId;
  kind: JobKind;
  contextId: ContextId;
  workerId: WorkerId;
  branch: string;
  status: JobStatus;
  attempt: number;
  retryAt: Millis | null;
  steps: number;
  usage: Usage;
  /** The message that ended it. */
  output: { messageId: MessageId; content: Block[] } | null;
  /** Of an unfinished job: why the last model call failed. */
  error: JobError | null;
  parentJobId: JobId | null;
  createdAt: Millis;
  startedAt: Millis | null;
  finishedAt: Millis | null;
  metadata: JsonObject;
};

export type JobFilter = {
  status: JobStatus | null;
  contextId: ContextId | null;
  workerId: WorkerId | null;
  parentJobId: JobId | null;
  createdAfter: Millis | null;
};

type Row = {
  id: JobId;
  kind: JobKind;
  context_id: ContextId;
  worker_id: WorkerId;
  branch: string;
  status: JobStatus;
  attempt: number;
  retry_at: Millis | null;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  output_message_id: MessageId | null;
  output_content: Block[] | null;
  error: JobError | null;
  parent_job_id: JobId | null;
  created_at: Millis;
  started_at: Millis | null;
  finished_at: Millis | null;
  metadata: JsonObject;
};

const jobsWithOutput: SQL = sql`select j.id, j.kind, j.context_id, j.worker_id, j.branch, j.status, j.attempt,
  ${millis(sql`j.retry_at`)} as retry_at, j.steps, j.input_tokens, j.output_tokens, j.cache_read_tokens,
  j.cache_write_tokens, j.output_message_id, m.content as output_content,
  case when j.finished_at is not null then j.error end as error, j.parent_job_id,
  ${millis(sql`j.created_at`)} as created_at, ${millis(sql`j.started_at`)} as started_at,
  ${millis(sql`j.finished_at`)} as finished_at, j.metadata
  from jobs j left join messages m on m.id = j.output_message_id`;

function toView(row: Row): JobView {
  return {
    id: row.id,
    kind: row.kind,
    contextId: row.context_id,
    workerId: row.worker_id,
    branch: row.branch,
    status: row.status,
    attempt: row.attempt,
    retryAt: row.retry_at,
    steps: row.steps,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_read_tokens: row.cache_read_tokens,
      cache_write_tokens: row.cache_write_tokens,
    },
    output:
      row.output_message_id === null
        ? null
        : { messageId: row.output_message_id, content: row.output_content ?? [] },
    error: row.error,
    parentJobId: row.parent_job_id,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    metadata: row.metadata,
  };
}

/** Null: this tenant has no such job. */
export async function findJob(executor: Executor, tenantId: TenantId, id: JobId): Promise<JobView | null> {
  const [row] = await executor.execute<Row>(
    sql`${jobsWithOutput} where j.tenant_id = ${tenantId} and j.id = ${id}`,
  );
  return row === undefined ? null : toView(row);
}

/** Newest first, those made before `before`. At most `limit`. */
export async function listJobs(
  executor: Executor,
  tenantId: TenantId,
  filter: JobFilter,
  before: JobId | null,
  limit: number,
): Promise<JobView[]> {
  const { status, contextId, workerId, parentJobId, createdAfter } = filter;
  const conditions = [
    sql`j.tenant_id = ${tenantId}`,
    ...(status === null ? [] : [sql`j.status = ${status}`]),
    ...(contextId === null ? [] : [sql`j.context_id = ${contextId}`]),
    ...(workerId === null ? [] : [sql`j.worker_id = ${workerId}`]),
    ...(parentJobId === null ? [] : [sql`j.parent_job_id = ${parentJobId}`]),
    ...(createdAfter === null ? [] : [sql`j.created_at > ${toTimestamp(createdAfter)}::timestamptz`]),
    ...(before === null ? [] : [sql`j.id < ${before}`]),
  ];
  const rows = await executor.execute<Row>(
    sql`${jobsWithOutput} where ${sql.join(conditions, sql` and `)} order by j.id desc limit ${limit}`,
  );
  return rows.map(toView);
}

/** What became of a wish to stop a job. */
export type ReceiptView = {
  status: JobStatus;
  requestedAt: Millis | null;
  deliveredAt: Millis | null;
  stoppedAt: Millis | null;
};

/** Null: this tenant has no such job. */
export async function findReceipt(
  executor: Executor,
  tenantId: TenantId,
  id: JobId,
): Promise<ReceiptView | null> {
  const [row] = await executor.execute<{
    status: JobStatus;
    requested_at: Millis | null;
    delivered_at: Millis | null;
    stopped_at: Millis | null;
  }>(sql`
    select status, ${millis(sql`stop_requested_at`)} as requested_at, ${millis(sql`stop_delivered_at`)} as delivered_at,
      ${millis(sql`stopped_at`)} as stopped_at
    from jobs where tenant_id = ${tenantId} and id = ${id}`);
  if (row === undefined) return null;
  return {
    status: row.status,
    requestedAt: row.requested_at,
    deliveredAt: row.delivered_at,
    stoppedAt: row.stopped_at,
  };
}

/** Those of `jobs` that ended or are gone: one query for however many. */
export async function endedAmong(
  executor: Executor,
  jobs: readonly { tenantId: TenantId; jobId: JobId }[],
): Promise<Set<JobId>> {
  const asked = encodeJson(jobs.map(({ tenantId, jobId }) => ({ tenant: tenantId, id: jobId })));
  const rows = await executor.execute<{ id: JobId }>(sql`
    select a.id from jsonb_to_recordset(${asked}::jsonb) as a(tenant text, id uuid)
    where not exists (
      select 1 from jobs j where j.tenant_id = a.tenant and j.id = a.id and j.finished_at is null)`);
  return new Set(rows.map((row) => row.id));
}

/** Where a job belongs and how it stands; null: this tenant has no such job. */
export async function jobPlace(
  executor: Executor,
  tenantId: TenantId,
  jobId: JobId,
): Promise<{ contextId: ContextId; status: JobStatus } | null> {
  const [row] = await executor.execute<{ context_id: ContextId; status: JobStatus }>(
    sql`select context_id, status from jobs where tenant_id = ${tenantId} and id = ${jobId}`,
  );
  return row === undefined ? null : { contextId: row.context_id, status: row.status };
}

/** The admitted job of a context; null: none. */
export async function activeJob(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(
    sql`select id from jobs
      where context_id = ${contextId} and tenant_id = ${tenantId} and status in ('running', 'waiting')`,
  );
  return row?.id ?? null;
}

/** The admitted job of a context, where an input may still join it: nobody told it to end. */
export async function steerableJob(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(
    sql`select id from jobs where context_id = ${contextId} and tenant_id = ${tenantId}
      and status in ('running', 'waiting') and stop_kind is null and kind <> 'compact'`,
  );
  return row?.id ?? null;
}

/** The admitted job of a context, else the first of its queue where that may begin; null: nothing is under way. */
export async function currentJob(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(sql`
    select j.id from jobs j join contexts c on c.id = j.context_id
    where j.context_id = ${contextId} and j.tenant_id = ${tenantId}
      and (j.status in ('running', 'waiting') or (j.status = 'queued' and not c.stopped))
    order by j.status = 'queued', j.priority, j.position, j.id limit 1`);
  return row?.id ?? null;
}

/** What an interrupt took back so far, and the calls that had begun: they are not undone. */
export type InterruptionView = {
  removed: MessageId[];
  effects: { id: ToolCallId; name: string; effect: Effect; status: CallStatus }[];
};

/** Of a job of this tenant. */
export async function findInterruption(
  executor: Executor,
  tenantId: TenantId,
  { contextId, jobId }: { contextId: ContextId; jobId: JobId },
): Promise<InterruptionView> {
  const [messages, effects] = await Promise.all([
    executor.execute<{ id: MessageId }>(sql`
      select m.id from jobs j join messages m on m.context_id = j.context_id and m.branch = j.branch
        and m.seq > j.first_seq and m.seq <= j.last_seq and m.job_id = j.id
      where j.id = ${jobId} and j.context_id = ${contextId} and j.tenant_id = ${tenantId} and m.status = 'retracted'
      order by m.seq`),
    executor.execute<InterruptionView['effects'][number]>(sql`
      select id, name, effect, status from tool_calls
      where context_id = ${contextId} and tenant_id = ${tenantId} and job_id = ${jobId}
        and not (effect = 'once' and status in ('pending', 'cancelled')) order by created_at, ordinal`),
  ]);
  return { removed: messages.map(({ id }) => id), effects: [...effects] };
}
