/** Submissions as clients see them: as jobs that are queued, that failed, or that were cancelled. */
import { sql, type SQL } from 'drizzle-orm';
import type { Reach } from '../../core/access/reach.ts';
import type { User } from '../../core/access/user.ts';
import { cut } from '../../core/cut.ts';
import type { ContextId, JobId, MessageId, TenantId, WorkerId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { SubmissionError, SubmissionStatus } from '../../core/submissions/submission.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { textInJson } from '../connection/codec.ts';
import { dueNow, millis } from '../connection/instant.ts';
import { SHOWN_INPUT, type WorkerOfJob } from '../read/jobs/shown-of-job.ts';
import { beginningOf, beginningOfText, readBeginning } from '../read/messages/beginning.ts';
import { WITHOUT_CONTENT } from './due-submissions.ts';

export type SubmittedJobView = {
  id: JobId;
  contextId: ContextId;
  workerId: WorkerId;
  /** That exists, or that the submission names. */
  worker: WorkerOfJob;
  user: User | null;
  branch: string;
  /** Null: the submission is not valid, and names none. */
  messageId: MessageId | null;
  /** The beginning of its input. */
  text: string;
  /** Null: the submission has none, or a value that is not valid. */
  metadata: JsonObject | null;
  status: SubmissionStatus;
  error: SubmissionError | null;
  createdAt: Millis;
  finishedAt: Millis | null;
};

/** Null: there is none, or it has become a job. */
export async function findSubmittedJob(
  executor: Executor,
  tenantId: TenantId,
  id: JobId,
): Promise<SubmittedJobView | null> {
  const [row] = await executor.execute<
    Omit<SubmittedJobView, 'text'> & { hex: string | null }
  >(sql`/* submissions.find */
    select s.id, s.target_context_id as "contextId", s.worker_id as "workerId",
      jsonb_build_object('name', coalesce(${textInJson(sql`w.name`)}, s.body ->> 'name', ''), 'title', ${textInJson(sql`w.title`)},
        'role', coalesce(${textInJson(sql`w.role`)}, s.body ->> 'role'), 'ofFile', w.role_version is null,
        'model', coalesce(w.config ->> 'model', r.definition ->> 'model', s.body -> 'config' ->> 'model')) as worker,
      case json_typeof(s.body -> 'input' -> 'content')
        when 'string' then ${beginningOfText(sql`s.body -> 'input' ->> 'content'`, SHOWN_INPUT)}
        when 'array' then ${beginningOf(sql`s.body -> 'input' -> 'content'`, SHOWN_INPUT)} end as hex,
      coalesce(s.body -> 'input' ->> 'user', s.user_name) as "user",
      coalesce(s.body -> 'input' ->> 'branch', c.active_branch, 'main') as branch,
      s.body ->> 'message_id' as "messageId", case json_typeof(s.body -> 'input' -> 'metadata')
        when 'object' then s.body -> 'input' -> 'metadata' end as metadata,
      s.status, s.error, ${millis(sql`s.created_at`)} as "createdAt", ${millis(sql`s.finished_at`)} as "finishedAt"
    from submissions s left join contexts c on c.id = s.target_context_id and c.tenant_id = s.tenant_id
      left join workers w on w.context_id = c.id
      left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    where s.id = ${id} and s.tenant_id = ${tenantId}`);
  if (row === undefined) return null;
  const { hex, ...view } = row;
  return { ...view, text: cut(readBeginning(hex), SHOWN_INPUT) };
}

/** Waits for a process that makes a job of it. False: it became a job, or is finished, or there is none. */
export async function cancelSubmission(executor: Executor, tenantId: TenantId, id: JobId): Promise<boolean> {
  const rows = await executor.execute(sql`/* submissions.cancel */
    update submissions s set status = 'cancelled', finished_at = ${dueNow}, body = ${WITHOUT_CONTENT}
    where s.id = ${id} and s.tenant_id = ${tenantId} and s.status = 'queued' returning 1`);
  return rows.length > 0;
}

/** Whether the submission of a job, as `s`, is within reach: it belongs to the worker that it names or creates. */
export function isSubmissionWithin(tenantId: TenantId, id: JobId, reach: Reach): SQL {
  return sql`select 1 from submissions s where s.id = ${id} and s.tenant_id = ${tenantId} and ${within(reach)}`;
}

function within(reach: Reach): SQL {
  switch (reach.kind) {
    case 'tenant':
      return sql`true`;
    case 'user':
      return sql`s.user_name = ${reach.user}`;
    case 'contexts':
      return sql`s.target_context_id in ${[...reach.contextIds]}`;
  }
}
