/** What the body of a delivery says about its job, and which webhooks it may go to. */
import { sql } from 'drizzle-orm';
import type { Block } from '../../core/conversation/blocks.ts';
import type { JobError } from '../../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId, WebhookId, WorkerId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { User } from '../../core/access/user.ts';
import type { JobFacts } from '../../core/webhooks/body.ts';
import { MOST_PENDING, type WebhookEvent, type WebhookFilter } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis } from '../connection/instant.ts';

type Row = {
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
  outputId: MessageId | null;
  content: Block[] | null;
};

/** By job; one that was deleted is left out. */
export async function jobFacts(tx: Executor, jobIds: readonly JobId[]): Promise<Map<JobId, JobFacts>> {
  const rows = await tx.execute<Row>(sql`
    select found.* from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) as wanted(id)
    cross join lateral (
      select j.id as "jobId", j.context_id as "contextId", j.worker_id as "workerId", w.name as "workerName", w.role,
        j.user_name as "user", j.metadata, ${millis(sql`j.created_at`)} as "createdAt",
        ${millis(sql`j.started_at`)} as "startedAt", ${millis(sql`j.finished_at`)} as "finishedAt",
        case when j.finished_at is not null then j.error end as error, j.output_message_id as "outputId", m.content
      from jobs j join workers w on w.id = j.worker_id left join messages m on m.id = j.output_message_id
      where j.id = wanted.id::uuid limit 1
    ) found`);
  return new Map(
    rows.map(({ outputId, content, ...row }) => [
      row.jobId,
      { ...row, output: outputId === null ? null : { messageId: outputId, content: content ?? [] } },
    ]),
  );
}

/** A webhook that events are to be matched with. `isFull`: more deliveries are pending than may be. */
export type Candidate = {
  id: WebhookId;
  tenantId: TenantId;
  events: WebhookEvent[];
  filter: WebhookFilter | null;
  isFull: boolean;
};

/** The active webhooks of these tenants. Their rows stay locked, so that what is added to them keeps its order. */
export async function lockCandidates(tx: Executor, tenantIds: readonly TenantId[]): Promise<Candidate[]> {
  return tx.execute<Candidate>(sql`/* webhooks.lock_candidates */
    select w.id, w.tenant_id as "tenantId", w.events, w.filter, (
      select count(*) from (select 1 from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending'
        limit ${MOST_PENDING}) pending) >= ${MOST_PENDING} as "isFull"
    from webhooks w
    where w.tenant_id in (select i::bigint from jsonb_array_elements_text(${encodeJson(tenantIds)}::jsonb) i)
      and w.status = 'active' and w.deleted_at is null
    order by w.id for no key update of w`);
}

/** The webhooks that the messages of these jobs name. */
export async function namedWebhooks(tx: Executor, jobIds: readonly JobId[]): Promise<Map<JobId, WebhookId[]>> {
  const rows = await tx.execute<{ jobId: JobId; webhookId: WebhookId }>(sql`
    select n.job_id as "jobId", n.webhook_id as "webhookId"
    from job_webhooks n where n.job_id in (select i::uuid from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) i)`);
  const byJob = new Map<JobId, WebhookId[]>();
  for (const { jobId, webhookId } of rows) byJob.set(jobId, [...(byJob.get(jobId) ?? []), webhookId]);
  return byJob;
}
