/**
 * The model calls of a job. Answered calls are stored on their messages, all others in `failed_calls`. Both store a
 * fingerprint of the request (see `core/model/fingerprint.ts`), which is compared with that of the previous call.
 */
import { sql, type SQL } from 'drizzle-orm';
import { lostAt, type Fingerprint, type PrefixPart } from '../../core/model/fingerprint.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../../core/ids.ts';
import type { OutputSchema } from '../../core/run/output.ts';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import type { Executor } from '../connection/client.ts';
import { spansOf } from '../run/spans.ts';
import { usageColumns } from './usage.ts';

/** The job, and the range of context numbers in which its entries lie. A job that never started has an empty range. */
export function jobBetweenItsNumbers(tenantId: TenantId, jobId: JobId): SQL {
  return sql`
    select j.id, j.kind, j.context_id, j.tenant_id, j.branch, j.status, j.attempt, j.retry_at, j.finished_at, j.error, c.state, c.state_since,
      coalesce(j.first_seq, c.head_seq) as first_seq, coalesce(j.last_seq, c.head_seq) as last_seq,
      j.status = 'running' and c.scheduling_status = 'running' as owned
    from jobs j join contexts c on c.id = j.context_id where j.tenant_id = ${tenantId} and j.id = ${jobId}`;
}

/** Includes retracted messages: their calls were made and billed. */
export const answered = sql`
  select coalesce(m.attempt, 0) as attempt, 0 as rank, m.seq, coalesce(m.called_at, m.completed_at) as started,
    m.first_byte_at as first_byte, m.completed_at as ended, 'completed' as status, m.provider_id || '/' || m.model_id as name,
    m.attempt as told_attempt, ${usageColumns('m')},
    null::jsonb as error, m.id as message_id, null::timestamptz as retry_at, 'model' as kind, null::int as tokens_before,
    null::int as tokens_after, m.prompt, m.throttled
  from job join messages m on m.context_id = job.context_id and m.branch = job.branch
    and m.seq > job.first_seq and m.seq <= job.last_seq
  where m.tenant_id = job.tenant_id and m.job_id = job.id and m.role = 'assistant' and m.type <> 'partial'`;

/** `cancelled`: it was stopped with its job. */
export const unanswered = sql`
  select f.attempt, 1, null, f.called_at, f.first_byte_at, f.failed_at,
    case when f.error is null then 'cancelled' else 'failed' end, f.model, f.attempt, null, null, null, null,
    null, f.error, null, f.retry_at, 'model', null, null, f.prompt, f.throttled
  from job join failed_calls f on f.job_id = job.id where f.tenant_id = job.tenant_id`;

/**
 * Columns for calls `(attempt, rank, seq, status, prompt)` of a job: the number of each call among those with a
 * fingerprint, and the fingerprint of the previous call. For the first call, the previous one is the last answered call
 * on its branch.
 */
export const numbered = sql`
  case when prompt is not null
    then count(prompt) over (order by attempt, rank, seq rows unbounded preceding) end::int as call,
  coalesce(lag(prompt) over known, ${promptBefore()}) as last_prompt,
  coalesce(lag(status) over known, 'completed') as last_status`;

/** The window that `numbered` uses. */
export const known = sql`known as (partition by prompt is null order by attempt, rank, seq)`;

function promptBefore(): SQL {
  return sql`(
    select m.prompt from job cross join lateral (${spansOf(sql`job.context_id`, sql`job.tenant_id`, sql`job.branch`)}) s
    cross join lateral (
      select m.seq, m.prompt from messages m where m.context_id = job.context_id and m.tenant_id = job.tenant_id
        and m.branch = s.branch and m.seq > s.after and m.seq <= least(s.upto, job.first_seq)
        and m.role = 'assistant' and m.status = 'completed'
      order by m.seq desc limit 1) m
    order by m.seq desc limit 1)`;
}

export type NumberedColumns = {
  call: number | null;
  prompt: Fingerprint | null;
  last_prompt: Fingerprint | null;
  last_status: string;
};

export type SentCall = {
  messageId: MessageId | null;
  attempt: number;
  fingerprint: Fingerprint;
  /** The previous call; `answered`: whether it got an answer. Null: none is known. */
  before: { fingerprint: Fingerprint; answered: boolean } | null;
};

/** The request data of one model call of a job. */
export type SentBy = {
  contextId: ContextId;
  branch: string;
  /** What the answer of the job must match; null: what the settings of the worker say. */
  outputSchema: OutputSchema | null;
  worker: { role: string | null; definition: Role | null; config: WorkerConfig };
  /** Null: the job has no call with this number. */
  call: SentCall | null;
};

/** The call with this number, counted from 1, and its context. Null: the tenant has no such job. */
export async function findSentCall(
  executor: Executor,
  tenantId: TenantId,
  jobId: JobId,
  n: number,
): Promise<SentBy | null> {
  const [row] = await executor.execute<SentRow>(sql`/* model_calls.find */
    with job as (${jobBetweenItsNumbers(tenantId, jobId)}),
    calls as (${answered} union all ${unanswered}),
    numbered_calls as (select calls.*, ${numbered} from calls window ${known})
    select job.context_id, job.branch, j.output_schema, w.role, r.definition, w.config, t.call, t.attempt, t.message_id, t.prompt, t.last_prompt,
      t.last_status
    from job join jobs j on j.id = job.id join workers w on w.context_id = job.context_id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join numbered_calls t on t.call = ${n}`);
  if (row === undefined) return null;
  const { context_id: contextId, branch, output_schema: outputSchema, role, definition, config } = row;
  return { contextId, branch, outputSchema, worker: { role, definition, config }, call: toSentCall(row) };
}

type SentRow = NumberedColumns &
  SentBy['worker'] & {
    context_id: ContextId;
    branch: string;
    output_schema: OutputSchema | null;
    attempt: number | null;
    message_id: MessageId | null;
  };

function toSentCall(row: SentRow): SentCall | null {
  if (row.prompt === null) return null;
  const { last_prompt: fingerprint, last_status } = row;
  return {
    messageId: row.message_id,
    attempt: row.attempt ?? 0,
    fingerprint: row.prompt,
    before: fingerprint === null ? null : { fingerprint, answered: last_status === 'completed' },
  };
}

/**
 * The part in which the request stopped sharing a prefix with the previous one; null: it shares all, or none is known.
 */
export function prefixLostAt({ prompt, last_prompt: last, last_status }: NumberedColumns): PrefixPart | null {
  return prompt === null || last === null ? null : lostAt(last, last_status === 'completed', prompt);
}
