/** Submissions as clients see them: as jobs that are queued, that failed, or that were cancelled. */
import { sql, type SQL } from 'drizzle-orm';
import type { Reach } from '../../core/access/reach.ts';
import type { User } from '../../core/access/user.ts';
import type { ContextId, JobId, MessageId, TenantId, WorkerId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { SubmissionError, SubmissionStatus } from '../../core/submissions/submission.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, millis } from '../connection/instant.ts';
import { WITHOUT_CONTENT } from './due-submissions.ts';

export type SubmittedJobView = {
  id: JobId;
  contextId: ContextId;
  workerId: WorkerId;
  user: User | null;
  branch: string;
  /** Null: the submission is not valid, and names none. */
  messageId: MessageId | null;
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
  const [row] = await executor.execute<SubmittedJobView>(sql`/* submissions.find */
    select s.id, s.target_context_id as "contextId", s.worker_id as "workerId",
      coalesce(s.body -> 'input' ->> 'user', s.user_name) as "user",
      coalesce(s.body -> 'input' ->> 'branch', c.active_branch, 'main') as branch,
      s.body ->> 'message_id' as "messageId", s.body -> 'input' -> 'metadata' as metadata,
      s.status, s.error, ${millis(sql`s.created_at`)} as "createdAt", ${millis(sql`s.finished_at`)} as "finishedAt"
    from submissions s left join contexts c on c.id = s.target_context_id and c.tenant_id = s.tenant_id
    where s.id = ${id} and s.tenant_id = ${tenantId}`);
  return row ?? null;
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
