/** What the body of a delivery says about its job, and which webhooks it may go to. */
import { sql } from 'drizzle-orm';
import type { JobId, MessageId, TenantId, WebhookId } from '../../core/ids.ts';
import { OUTPUT_CHARS, type JobFacts } from '../../core/webhooks/body.ts';
import { MOST_PENDING, type WebhookEvent, type WebhookFilter } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis } from '../connection/instant.ts';

/** A job as it is when the body is made, without the text of its output. */
export type JobRow = Omit<JobFacts, 'output'> & { outputId: MessageId | null; hasData: boolean };

/** By job; one that was deleted is left out. */
export async function jobFacts(tx: Executor, jobIds: readonly JobId[]): Promise<Map<JobId, JobRow>> {
  const rows = await tx.execute<JobRow>(sql`
    select found.* from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) as wanted(id)
    cross join lateral (
      select j.id as "jobId", j.context_id as "contextId", j.worker_id as "workerId", w.name as "workerName", w.role,
        j.user_name as "user", j.metadata, ${millis(sql`j.created_at`)} as "createdAt",
        ${millis(sql`j.started_at`)} as "startedAt", ${millis(sql`j.finished_at`)} as "finishedAt",
        case when j.finished_at is not null then j.error end as error, j.output_message_id as "outputId",
        j.has_data as "hasData"
      from jobs j join workers w on w.id = j.worker_id where j.id = wanted.id::uuid limit 1
    ) found`);
  return new Map(rows.map((row) => [row.jobId, row]));
}

/** A character may be stored as five: see codec.ts. */
const READ_CHARS = 5 * (OUTPUT_CHARS + 1);

/** The beginnings of the texts of these messages: more than a body shows, if there is more. */
export async function outputTexts(tx: Executor, messageIds: readonly MessageId[]): Promise<Map<MessageId, string>> {
  const rows = await tx.execute<{ id: MessageId; text: string }>(sql`/* webhooks.read_outputs */
    select found.* from jsonb_array_elements_text(${encodeJson(messageIds)}::jsonb) as wanted(id)
    cross join lateral (
      select m.id, to_jsonb(left(coalesce((
        select string_agg(b.block ->> 'text', '' order by b.place)
        from json_array_elements(m.content) with ordinality as b(block, place) where b.block ->> 'type' = 'text'
      ), ''), ${READ_CHARS}::int)) as text
      from messages m where m.id = wanted.id::uuid limit 1
    ) found`);
  return new Map(rows.map(({ id, text }) => [id, text]));
}

/** A webhook that events are matched with. */
export type Candidate = {
  id: WebhookId;
  tenantId: TenantId;
  events: WebhookEvent[];
  filter: WebhookFilter | null;
};

/** The active webhooks of these tenants. */
export async function activeWebhooks(tx: Executor, tenantIds: readonly TenantId[]): Promise<Candidate[]> {
  return tx.execute<Candidate>(sql`/* webhooks.list_active */
    select w.id, w.tenant_id as "tenantId", w.events, w.filter from webhooks w
    where w.tenant_id in (select i::bigint from jsonb_array_elements_text(${encodeJson(tenantIds)}::jsonb) i)
      and w.status = 'active' and w.deleted_at is null
    order by w.id`);
}

/** `isFull`: more deliveries are pending than may be. */
export type Receiving = { id: WebhookId; tenantId: TenantId; isFull: boolean };

/**
 * Those of these webhooks that are still active. Their rows stay locked, so that what is added to them keeps its order.
 */
export async function lockReceiving(tx: Executor, ids: readonly WebhookId[]): Promise<Receiving[]> {
  return tx.execute<Receiving>(sql`/* webhooks.lock_receiving */
    select w.id, w.tenant_id as "tenantId", (
      select count(*) from (select 1 from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending'
        limit ${MOST_PENDING}) pending) >= ${MOST_PENDING} as "isFull"
    from webhooks w
    where w.id in (select i::uuid from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) i)
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
