/**
 * The model calls of a job: those that were answered are told by their messages, those that failed by rows of their own. Both
 * tell in short what was sent (see `core/fingerprint.ts`), by which each is told apart from the call before it.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { lostAt } from '../core/fingerprint.ts';
import type { Fingerprint, PrefixPart } from '../core/fingerprint.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../core/ids.ts';
import type { Role, WorkerConfig } from '../core/settings.ts';
import type { Executor } from './client.ts';
import { spansOf } from './spans.ts';
import { usageColumns } from './usage.ts';

/** The job, and between which numbers of its context what it added lies. One that never began added nothing. */
export function jobBetweenItsNumbers(tenantId: TenantId, jobId: JobId): SQL {
  return sql`
    select j.id, j.kind, j.context_id, j.tenant_id, j.branch, j.status, j.attempt, j.retry_at, j.finished_at, c.state, c.state_since,
      coalesce(j.first_seq, c.head_seq) as first_seq, coalesce(j.last_seq, c.head_seq) as last_seq,
      j.status = 'running' and c.scheduling_status = 'running' as owned
    from jobs j join contexts c on c.id = j.context_id where j.tenant_id = ${tenantId} and j.id = ${jobId}`;
}

/** Retracted ones too: they were made, and paid for. */
export const answered = sql`
  select coalesce(m.attempt, 0) as attempt, 0 as rank, m.seq, coalesce(m.called_at, m.completed_at) as started,
    m.first_byte_at as first_byte, m.completed_at as ended, 'completed' as status, m.provider_id || '/' || m.model_id as name,
    m.attempt as told_attempt, ${usageColumns('m')},
    null::jsonb as error, m.id as message_id, null::timestamptz as retry_at, 'model' as kind, null::int as tokens_before,
    null::int as tokens_after, m.prompt
  from job join messages m on m.context_id = job.context_id and m.branch = job.branch
    and m.seq > job.first_seq and m.seq <= job.last_seq
  where m.tenant_id = job.tenant_id and m.job_id = job.id and m.role = 'assistant'`;

export const failed = sql`
  select f.attempt, 1, null, f.called_at, f.first_byte_at, f.failed_at, 'failed', f.model, f.attempt, null, null, null, null,
    null, f.error, null, f.retry_at, 'model', null, null, f.prompt
  from job join failed_calls f on f.job_id = job.id where f.tenant_id = job.tenant_id`;

/**
 * Columns of calls `(attempt, rank, seq, status, prompt)` of a job: the number of each among those that are known by what was
 * sent, and what was sent before it; of the first one by the last job on its branch that was answered.
 */
export const numbered = sql`
  case when prompt is not null
    then count(prompt) over (order by attempt, rank, seq rows unbounded preceding) end::int as call,
  coalesce(lag(prompt) over known, ${promptBefore()}) as last_prompt,
  coalesce(lag(status) over known, 'completed') as last_status`;

/** The window that `numbered` looks back in. */
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
  /** Of the call before it; `answered`: an answer came of that one. Null: nothing is known of any. */
  before: { fingerprint: Fingerprint; answered: boolean } | null;
};

/** What one of the model calls of a job was made from. */
export type SentBy = {
  contextId: ContextId;
  branch: string;
  worker: { role: string | null; definition: Role | null; config: WorkerConfig };
  /** Null: the job made no call of this number. */
  call: SentCall | null;
};

/** The call of this number, from 1, and whose it is. Null: this tenant has no such job. */
export async function findSentCall(
  executor: Executor,
  tenantId: TenantId,
  jobId: JobId,
  n: number,
): Promise<SentBy | null> {
  const [row] = await executor.execute<SentRow>(sql`/* model_calls.find */
    with job as (${jobBetweenItsNumbers(tenantId, jobId)}),
    calls as (${answered} union all ${failed}),
    told as (select calls.*, ${numbered} from calls window ${known})
    select job.context_id, job.branch, w.role, r.definition, w.config, t.call, t.attempt, t.message_id, t.prompt, t.last_prompt,
      t.last_status
    from job join workers w on w.context_id = job.context_id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join told t on t.call = ${n}`);
  if (row === undefined) return null;
  const { context_id: contextId, branch, role, definition, config } = row;
  return { contextId, branch, worker: { role, definition, config }, call: toSentCall(row) };
}

type SentRow = NumberedColumns &
  SentBy['worker'] & {
    context_id: ContextId;
    branch: string;
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

/** Where the request ceased to begin as the one before; null: nowhere, or nobody knows. */
export function prefixLostAt({ prompt, last_prompt: last, last_status }: NumberedColumns): PrefixPart | null {
  return prompt === null || last === null ? null : lostAt(last, last_status === 'completed', prompt);
}
