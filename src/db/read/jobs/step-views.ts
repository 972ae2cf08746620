/**
 * The timeline of a job. An answered model call is read from its message, one without an answer and a tool call from their
 * own rows, a running step from the status of the job and its context.
 *
 * Steps are ordered by attempt: the answers of an attempt, then its failure, then the wait after it. The order does not
 * depend on clocks, and no step is shown to start before the previous one.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { JobError } from '../../../core/errors.ts';
import type { PrefixPart } from '../../../core/model/fingerprint.ts';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import type { JobStatus } from '../../../core/run/job.ts';
import type { ThrottleReason } from '../../../core/run/throttle.ts';
import type { Role, WorkerConfig } from '../../../core/workers/settings.ts';
import { CALL_STATUSES, type ApprovalDecision } from '../../../core/tools/tool-call.ts';
import type { Millis } from '../../../core/time.ts';
import type { Usage } from '../../../core/money/usage.ts';
import { callWaits, type CallWait } from '../../calls/call-waits.ts';
import { callsOfJob } from '../../calls/calls-of-job.ts';
import { reportOf, type ReportView } from '../../calls/tool-reports.ts';
import { toolStepsOf, type ToolStepView } from '../../calls/tool-steps.ts';
import type { PageRequest } from '../page.ts';
import type { Executor } from '../../connection/client.ts';
import { eventAt } from '../../run/events.ts';
import { executionsOf, type ExecutionView } from '../../run/executions.ts';
import { millis } from '../../connection/instant.ts';
import {
  answered,
  jobBetweenItsNumbers,
  known,
  numbered,
  prefixLostAt,
  unanswered,
  type NumberedColumns,
} from '../../model-calls/model-calls.ts';
import { toUsageOrNull, usageColumns, usageObject, type UsageColumns } from '../../model-calls/usage.ts';

export const STEP_KINDS = ['model', 'tool', 'wait', 'compact'] as const;
/** `running` and `waiting` are in progress. A tool call that no process runs now has its stored status. */
export const STEP_STATUSES = ['running', ...CALL_STATUSES] as const;
type StepStatus = (typeof STEP_STATUSES)[number];

export type StepView = {
  kind: (typeof STEP_KINDS)[number];
  /** Of a model step: `provider/model`, null before the answer (the settings name it). Of a wait: its reason. */
  name: string | null;
  status: StepStatus;
  /** The attempt of the model call; a wait has that of the failed call before it. Null for tools. */
  attempt: number | null;
  /** Of a model call with a fingerprint: its number within the job. */
  call: number | null;
  /**
   * The part in which its prompt stopped sharing a prefix with the previous one; null: it shares all, or none is known.
   */
  prefixLostAt: PrefixPart | null;
  startedAt: Millis;
  firstTokenAt: Millis | null;
  endedAt: Millis | null;
  usage: Usage | null;
  error: JobError | null;
  /** Of a wait for a throttle: why the provider refused calls. Null for other steps. */
  reason: ThrottleReason | null;
  /** The answer. Of a tool call: the message that requested it. */
  messageId: MessageId | null;
  toolCallId: ToolCallId | null;
  /** Of a tool call: each execution; null for other steps. */
  executions: ExecutionView[] | null;
  /** Of a tool call: what its tool reported; null for other steps. */
  report: ReportView | null;
  /** Of a tool call: its durable steps; null for other steps. */
  toolSteps: ToolStepView[] | null;
  /** Of a compaction: the prompt length before and after. */
  tokens: { before: number; after: number } | null;
  /** Of a tool call: its approval decision. */
  approval: (ApprovalDecision & { at: Millis }) | null;
  /** Of a tool call: each wait; null for other steps. */
  waits: CallWait[] | null;
  /** Of a tool call: the job that it gave to a child worker. */
  child: ChildJob | null;
};

export type ChildJob = {
  jobId: JobId;
  contextId: ContextId;
  workerId: WorkerId;
  /** The name of the worker. */
  name: string;
  status: JobStatus;
  usage: Usage;
  createdAt: Millis;
  startedAt: Millis | null;
  finishedAt: Millis | null;
};

/** The steps, and the worker's settings, which name the model of a call that has not been answered yet. */
type Timeline = {
  steps: StepView[];
  worker: { role: string | null; definition: Role | null; config: WorkerConfig };
};

type Row = UsageColumns &
  NumberedColumns &
  Timeline['worker'] &
  Omit<StepView, 'kind' | 'prefixLostAt' | 'usage' | 'tokens' | 'approval'> & {
    kind: StepView['kind'] | null;
    tokens_before: number | null;
    tokens_after: number | null;
    approval: ApprovalDecision | null;
    approvalAt: Millis | null;
  };

/** `after`: how many steps precede the page. Null: the tenant has no such job. */
export async function listSteps(
  executor: Executor,
  tenantId: TenantId,
  jobId: JobId,
  { after, limit }: PageRequest<number>,
): Promise<Timeline | null> {
  const rows = await executor.execute<Row>(sql`/* steps.list */
    with job as (${jobBetweenItsNumbers(tenantId, jobId)}),
    calls as (${answered} union all ${unanswered} union all ${compacted} union all ${underWay}),
    timed as (select calls.*, lead(coalesce(${throttledSince}, started)) over (order by attempt, rank, seq) as next, ${numbered} from calls window ${known}),
    steps as (${modelSteps} union all ${waits} union all ${throttles} union all ${tools}),
    numbered_steps as (
      select steps.*, row_number() over line as n, max(started) over line as shown from steps
      window line as (order by attempt, rank, seq, ordinal > 0, started, ordinal)
    ), ${callWaits}
    select w.role, r.definition, w.config, s.kind, s.name, s.status, s.told_attempt as attempt,
      ${millis(sql`s.shown`)} as "startedAt", ${millis(notBefore(sql`s.first_byte`))} as "firstTokenAt",
      ${millis(notBefore(sql`s.ended`))} as "endedAt", ${usageColumns('s')}, s.error, s.message_id as "messageId",
      s.tool_call_id as "toolCallId",
      ${executionsOf(sql`s.tool_call_id`)} as executions,
      ${reportOf(sql`s.tool_call_id`, sql`job.tenant_id`)} as report, ${toolStepsOf(sql`s.tool_call_id`, sql`job.tenant_id`)} as "toolSteps",
      s.tokens_before, s.tokens_after, s.call, s.reason,
      s.prompt, s.last_prompt, s.last_status, v.approval,
      ${millis(sql`v.approval_at`)} as "approvalAt", call_waits.waits, ${childOf(sql`s.tool_call_id`)} as child
    from job join workers w on w.context_id = job.context_id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join lateral (select * from numbered_steps where n > ${after} order by n limit ${limit}) s on true
    left join tool_calls v on v.id = s.tool_call_id and v.tenant_id = job.tenant_id
    left join call_waits on call_waits.id = s.tool_call_id
    order by s.n`);
  const [first] = rows;
  if (first === undefined) return null;
  const { role, definition, config } = first;
  return { steps: rows.flatMap(toView), worker: { role, definition, config } };
}

/** A missing time stays null, although `greatest` would ignore it. */
function notBefore(time: SQL): SQL {
  return sql`case when ${time} is not null then greatest(${time}, s.shown) end`;
}

/** JSON of `ChildJob`; null: none, or its worker no longer exists. A job given to a peer worker is no child job. */
function childOf(callId: SQL): SQL {
  return sql`(select jsonb_build_object('jobId', k.id, 'contextId', k.context_id, 'workerId', k.worker_id, 'name', kw.name,
      'status', k.status, 'usage', ${usageObject('k')},
      'createdAt', ${millis(sql`k.created_at`)}, 'startedAt', ${millis(sql`k.started_at`)},
      'finishedAt', ${millis(sql`k.finished_at`)})
    from jobs k join workers kw on kw.id = k.worker_id
    where k.parent_tool_call_id = ${callId} and k.parent_job_id = job.id and k.tenant_id = job.tenant_id)`;
}

/** Compaction steps, read from the event that was stored with each compaction. */
const compacted = sql`
  select (e.data ->> 'attempt')::int, 0, k.seq, (e.data ->> 'started_at')::timestamptz,
    (e.data ->> 'first_token_at')::timestamptz, k.created_at, 'completed', k.type, (e.data ->> 'attempt')::int,
    (e.data -> 'usage' ->> 'input_tokens')::int, (e.data -> 'usage' ->> 'output_tokens')::int,
    (e.data -> 'usage' ->> 'cache_read_tokens')::int, (e.data -> 'usage' ->> 'cache_write_tokens')::int,
    ((e.data -> 'usage' ->> 'cost')::numeric * 1e9)::bigint, null, null, null, 'compact', k.tokens_before, k.tokens_after, null, null
  from job join compactions k on k.context_id = job.context_id and k.job_id = job.id
  cross join lateral ${eventAt(sql`k.context_id`, sql`k.seq`)} e
  where k.tenant_id = job.tenant_id`;

/**
 * The model call in progress, inferred: the job runs under a lease and no other step is due. Its start is an estimate.
 */
const underWay = sql`
  select job.attempt, 0, 9223372036854775807, greatest(job.state_since, job.retry_at, (
      select max(m.completed_at) from messages m where m.context_id = job.context_id and m.branch = job.branch
        and m.seq > job.first_seq and m.seq <= job.last_seq and m.job_id = job.id)),
    null, null, 'running', case when job.kind = 'compact' then 'compaction' end, job.attempt, null, null, null, null, null,
    null, null, null, case when job.kind = 'compact' then 'compact' else 'model' end, null, null, null, job.error -> 'throttled'
  from job where job.owned and job.state in ('AwaitingLLMResponse', 'TransientFailure')
    and (job.retry_at is null or job.retry_at <= clock_timestamp())`;

const modelSteps = sql`
  select kind, attempt, rank, seq, 0 as ordinal, name, status, told_attempt, started, first_byte, ended,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos, error, message_id,
    null::uuid as tool_call_id, tokens_before, tokens_after, call, prompt, last_prompt, last_status, null as reason
  from timed`;

/** When the throttle of a call began to delay it. */
const throttledSince = sql`to_timestamp((throttled ->> 'since')::float8 / 1000)`;

/** From when on a throttle delays the next call of a job that is parked; null: none does. */
const parkedSince = sql`(select ${throttledSince} from (select job.error -> 'throttled' as throttled
  where job.status = 'waiting') p)`;

/** A wait lasts until the next call starts, or a throttle delays that one, or until the job ends. */
const waits = sql`
  select 'wait', t.attempt, 2, null, 0, 'retry',
    case when t.until is not null or t.retry_at <= job.finished_at then 'completed'
      when job.finished_at is not null then 'cancelled' else 'waiting' end,
    t.told_attempt, t.ended, null,
    coalesce(t.until, case when job.finished_at is not null then least(t.retry_at, job.finished_at) end),
    null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
  from job cross join lateral (select t.*, coalesce(t.next, ${parkedSince}) as until from timed t) t
  where t.status = 'failed' and t.retry_at is not null`;

/** The wait of a call for a throttle comes before the call, that of a parked job at the end. */
const throttles = sql`
  select 'wait', t.attempt, t.rank, t.seq, -1, 'throttle', 'completed', t.told_attempt,
    least(${throttledSince}, t.started), null, t.started,
    null, null, null, null, null, null, null, null, null, null, null, null, null, null, t.throttled ->> 'reason'
  from timed t where t.throttled is not null
  union all
  select 'wait', p.attempt, 0, 9223372036854775807, -1, 'throttle', 'waiting', p.attempt, ${throttledSince}, null, null,
    null, null, null, null, null, null, null, null, null, null, null, null, null, null, p.throttled ->> 'reason'
  from (select job.*, job.error -> 'throttled' as throttled from job) p
  where p.status = 'waiting' and p.throttled is not null`;

const tools = sql`
  select 'tool', coalesce(m.attempt, 0), 0, m.seq, t.ordinal + 1, t.name,
    case when job.owned and t.finished_at is null and t.status <> 'waiting' then 'running' else t.status end, null,
    coalesce(t.started_at, t.created_at), null, t.finished_at, null, null, null, null, null, null, t.message_id,
    t.id, null, null, null, null, null, null, null
  from job cross join lateral ${callsOfJob(sql`job`, sql`job.last_seq`)} t
  join messages m on m.id = t.message_id
  where t.tenant_id = job.tenant_id`;

function toView(row: Row): StepView[] {
  if (row.kind === null) return [];
  return [
    {
      kind: row.kind,
      name: row.name,
      status: row.status,
      attempt: row.attempt,
      call: row.call,
      prefixLostAt: prefixLostAt(row),
      startedAt: row.startedAt,
      firstTokenAt: row.firstTokenAt,
      endedAt: row.endedAt,
      usage: toUsageOrNull(row),
      error: row.error,
      reason: row.reason,
      messageId: row.messageId,
      toolCallId: row.toolCallId,
      executions: row.toolCallId === null ? null : (row.executions ?? []),
      report: row.toolCallId === null ? null : row.report,
      toolSteps: row.toolCallId === null ? null : row.toolSteps,
      tokens: tokensOf(row),
      approval: row.approval === null || row.approvalAt === null ? null : { ...row.approval, at: row.approvalAt },
      waits: row.toolCallId === null ? null : (row.waits ?? []),
      child: row.child,
    },
  ];
}

function tokensOf({ tokens_before: before, tokens_after: after }: Row): StepView['tokens'] {
  return before === null || after === null ? null : { before, after };
}
