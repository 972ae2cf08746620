/** The options with which a job was posted, for a job that takes them too. */
import { sql } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, WebhookId, WorkerId } from '../../../core/ids.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { OutputSchema } from '../../../core/run/output.ts';
import type { Millis } from '../../../core/time.ts';
import type { User } from '../../../core/access/user.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';

export type JobOptionsView = {
  contextId: ContextId;
  workerId: WorkerId;
  /** On whose behalf it runs; null: no end user's. */
  user: User | null;
  /** From 1; of a job that interrupted another one 1. */
  priority: number;
  metadata: JsonObject;
  maxSteps: number | null;
  outputSchema: OutputSchema | null;
  /** Null: there is none, or it has passed. */
  deadline: Millis | null;
  /** Null: there is none that is active. */
  webhookId: WebhookId | null;
};

/** Null: the tenant has no such job. */
export async function findJobOptions(
  executor: Executor,
  tenantId: TenantId,
  id: JobId,
): Promise<JobOptionsView | null> {
  const [row] = await executor.execute<JobOptionsView>(sql`/* jobs.find_options */
    select j.context_id as "contextId", j.worker_id as "workerId", j.user_name as "user",
      greatest(j.priority, 1)::int as priority, j.metadata,
      j.max_steps as "maxSteps", j.output_schema as "outputSchema",
      ${millis(sql`case when j.deadline > statement_timestamp() then j.deadline end`)} as deadline,
      (select w.id from job_webhooks n join webhooks w on w.id = n.webhook_id
        where n.job_id = j.id and w.status = 'active' and w.deleted_at is null limit 1) as "webhookId"
    from jobs j where j.id = ${id} and j.tenant_id = ${tenantId}`);
  return row ?? null;
}
