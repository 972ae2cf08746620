/** Webhooks as clients make, change and read them. */
import { sql, type SQL } from 'drizzle-orm';
import type { DeliveryId, ContextId, JobId, TenantId, WebhookId } from '../../core/ids.ts';
import {
  KEPT_FOR_MS,
  LONGEST_DELAY_MS,
  MOST_PENDING,
  RETRIED_FOR_MS,
  type DeliveryStatus,
  type DeliveryView,
  type NewWebhook,
  type WebhookChange,
  type WebhookView,
  type WholeDelivery,
} from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { dueNow, dueNowInStatement, millis, nowInStatement } from '../connection/instant.ts';
import { interval } from './deliveries.ts';

type WebhookKey = { tenantId: TenantId; id: WebhookId };

/**
 * Locks the tenant against other transactions that make or delete webhooks. Returns how many it has. Null: the tenant is
 * not active.
 */
export async function lockWebhooks(tx: Executor, tenantId: TenantId): Promise<number | null> {
  const locked = await tx.execute(sql`/* webhooks.lock_tenant */
    select 1 from tenants t where t.id = ${tenantId} and t.status = 'active' for no key update`);
  if (locked.length === 0) return null;
  const [row] = await tx.execute<{ count: number }>(sql`
    select count(*)::int as count from webhooks w where w.tenant_id = ${tenantId} and w.deleted_at is null`);
  return row?.count ?? 0;
}

/**
 * From the next claim of each context on, its appends write to the outbox, or do so no more. A disabled webhook counts,
 * so that it gets the events of runs that are under way when it is enabled.
 */
export async function setNotifies(tx: Executor, tenantId: TenantId): Promise<void> {
  await tx.execute(sql`/* tenants.set_notifies */
    update tenants t set notifies = exists (
      select 1 from webhooks w where w.tenant_id = t.id and w.deleted_at is null) where t.id = ${tenantId}`);
}

export async function addWebhook(tx: Executor, webhook: NewWebhook): Promise<void> {
  const { id, tenantId, url, events, filter, status, secret } = webhook;
  await tx.execute(sql`/* webhooks.add */
    insert into webhooks (id, tenant_id, url, events, filter, secret, status, disabled_reason)
    values (${id}, ${tenantId}, ${url}, ${encodeJson(events)}::jsonb, ${jsonOrNull(filter)}::jsonb, ${secret},
      ${status}, case ${status}::text when 'disabled' then 'requested' end)`);
}

/** Enabling it sends what is pending at once, but what is older than three days is given up. */
export async function changeWebhook(tx: Executor, { tenantId, id }: WebhookKey, change: WebhookChange): Promise<void> {
  const { url, events, filter, status } = change;
  await tx.execute(sql`/* webhooks.change */
    update webhooks w set updated_at = ${dueNow},
      url = coalesce(${url ?? null}::text, w.url),
      -- Another receiver is tried at once.
      failures = case when ${url === undefined}::boolean then w.failures else 0 end,
      failing_since = case when ${url === undefined}::boolean then w.failing_since end,
      held_until = case when ${url === undefined}::boolean then w.held_until end,
      due_at = case when ${url === undefined}::boolean or w.due_at is null then w.due_at else ${dueNow} end,
      events = coalesce(${events === undefined ? null : encodeJson(events)}::jsonb, w.events),
      filter = case when ${filter === undefined}::boolean then w.filter else ${jsonOrNull(filter ?? null)}::jsonb end
    where w.id = ${id} and w.tenant_id = ${tenantId}`);
  if (status === 'disabled') await disable(tx, id);
  if (status === 'active') await enable(tx, id);
}

async function disable(tx: Executor, id: WebhookId): Promise<void> {
  await tx.execute(sql`/* webhooks.disable_one */
    update webhooks w set status = 'disabled', disabled_reason = coalesce(w.disabled_reason, 'requested'), due_at = null
    where w.id = ${id}`);
}

async function enable(tx: Executor, id: WebhookId): Promise<void> {
  const [row] = await tx.execute<{ disabled: boolean }>(sql`
    select w.status = 'disabled' as disabled from webhooks w where w.id = ${id}`);
  if (row?.disabled !== true) return;
  await tx.execute(sql`/* webhook_deliveries.give_up_old */
    update webhook_deliveries d set status = 'failed', next_attempt_at = null, at_once = false
    where d.webhook_id = ${id} and d.status = 'pending'
      and d.created_at <= ${nowInStatement} - ${sql.raw(interval(RETRIED_FOR_MS))}`);
  // The first one of each job goes now; later ones wait for it as always.
  await tx.execute(sql`/* webhook_deliveries.resume */
    update webhook_deliveries d set next_attempt_at = case when exists (
        select 1 from webhook_deliveries e
        where e.webhook_id = d.webhook_id and e.job_id = d.job_id and e.seq < d.seq and e.status = 'pending'
      ) then greatest(${dueNowInStatement}, d.created_at + ${sql.raw(interval(LONGEST_DELAY_MS))})
      else ${dueNowInStatement} end
    where d.webhook_id = ${id} and d.status = 'pending'`);
  await tx.execute(sql`/* webhooks.enable */
    update webhooks w set status = 'active', disabled_reason = null, failing_since = null, failures = 0,
      held_until = null, due_at = ${dueNow} where w.id = ${id}`);
}

/** The old secret signs too for `overlapS` seconds. */
export async function replaceSecret(
  tx: Executor,
  { tenantId, id }: WebhookKey,
  { secret, overlapS }: { secret: string; overlapS: number },
): Promise<void> {
  await tx.execute(sql`/* webhooks.rotate */
    update webhooks w set secret = ${secret}, updated_at = ${dueNow},
      old_secret = case when ${overlapS}::int > 0 then w.secret end,
      old_secret_until = case when ${overlapS}::int > 0 then ${dueNow} + ${overlapS}::int * interval '1 second' end
    where w.id = ${id} and w.tenant_id = ${tenantId}`);
}

/** From now on it is not shown, and nothing is sent. False: the tenant has no such webhook. */
export async function removeWebhook(tx: Executor, { tenantId, id }: WebhookKey): Promise<boolean> {
  const rows = await tx.execute(sql`/* webhooks.remove */
    update webhooks w set deleted_at = ${dueNow}, status = 'disabled', disabled_reason = 'requested', due_at = null,
      secret = '', old_secret = null, old_secret_until = null
    where w.id = ${id} and w.tenant_id = ${tenantId} and w.deleted_at is null returning w.id`);
  return rows.length > 0;
}

/** `job.waiting` and `job.finished` of the job go to the webhook as well. */
export async function nameWebhook(
  tx: Executor,
  named: { tenantId: TenantId; contextId: ContextId; jobId: JobId; webhookId: WebhookId },
): Promise<void> {
  await tx.execute(sql`/* job_webhooks.add */
    insert into job_webhooks (job_id, webhook_id, tenant_id, context_id)
    values (${named.jobId}, ${named.webhookId}, ${named.tenantId}, ${named.contextId}) on conflict do nothing`);
}

const shownWebhook: SQL = sql`w.id, w.url, w.events, w.filter, w.status, w.disabled_reason as "disabledReason",
  ${millis(sql`w.created_at`)} as "createdAt", ${millis(sql`w.updated_at`)} as "updatedAt",
  ${millis(sql`w.last_success_at`)} as "lastSuccessAt", ${millis(sql`w.last_failure_at`)} as "lastFailureAt",
  w.last_error as "lastError", ${millis(sql`w.failing_since`)} as "failingSince",
  (select count(*)::int from (
    select 1 from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending' limit ${MOST_PENDING}
  ) pending) as pending`;

/** Null: the tenant has no such webhook. */
export async function findWebhook(executor: Executor, { tenantId, id }: WebhookKey): Promise<WebhookView | null> {
  const [row] = await executor.execute<WebhookView>(sql`
    select ${shownWebhook} from webhooks w where w.id = ${id} and w.tenant_id = ${tenantId} and w.deleted_at is null`);
  return row ?? null;
}

/** Newest first. */
export async function listWebhooks(
  executor: Executor,
  tenantId: TenantId,
  { after, limit }: { after: WebhookId | null; limit: number },
): Promise<WebhookView[]> {
  return executor.execute<WebhookView>(sql`
    select ${shownWebhook} from webhooks w
    where w.tenant_id = ${tenantId} and w.deleted_at is null and (${after}::uuid is null or w.id < ${after}::uuid)
    order by w.id desc limit ${limit}`);
}

const shownDelivery: SQL = sql`d.id, d.webhook_id as "webhookId", d.context_id as "contextId", d.job_id as "jobId",
  d.type, d.seq, d.status, d.attempts, ${millis(sql`d.created_at`)} as "createdAt",
  ${millis(sql`d.next_attempt_at`)} as "nextAttemptAt", ${millis(sql`d.last_attempt_at`)} as "lastAttemptAt",
  ${millis(sql`d.delivered_at`)} as "deliveredAt", d.duration_ms as "durationMs",
  d.response_status as "responseStatus", d.error`;

/** Newest first. `status`, `jobId` null: any. */
export async function listDeliveries(
  executor: Executor,
  { tenantId, id }: WebhookKey,
  { status, jobId }: { status: DeliveryStatus | null; jobId: JobId | null },
  { after, limit }: { after: DeliveryId | null; limit: number },
): Promise<DeliveryView[]> {
  const conditions = [
    sql`d.webhook_id = ${id} and d.tenant_id = ${tenantId}`,
    ...(after === null ? [] : [sql`d.id < ${after}`]),
    // In the text, so that the planner finds the partial indexes.
    ...(status === null ? [] : [sql`d.status = ${sql.raw(`'${status}'`)}`]),
    ...(jobId === null ? [] : [sql`d.job_id = ${jobId}`]),
  ];
  return executor.execute<DeliveryView>(sql`
    select ${shownDelivery} from webhook_deliveries d
    where ${sql.join(conditions, sql` and `)} order by d.id desc limit ${limit}`);
}

/** Null: the webhook has no such delivery. */
export async function findDelivery(
  executor: Executor,
  { tenantId, id }: WebhookKey,
  deliveryId: DeliveryId,
): Promise<WholeDelivery | null> {
  const [row] = await executor.execute<WholeDelivery>(sql`
    select ${shownDelivery}, d.body, d.response_body as "responseBody" from webhook_deliveries d
    where d.id = ${deliveryId} and d.webhook_id = ${id} and d.tenant_id = ${tenantId}`);
  return row ?? null;
}

/**
 * Deletes old deliveries, but those of jobs that have not ended: they number the next ones. Returns how many were
 * deleted.
 */
export async function forgetDeliveries(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* webhook_deliveries.delete_old */
    with old as materialized (
      select d.id from webhook_deliveries d
      where d.created_at < ${nowInStatement} - ${sql.raw(interval(KEPT_FOR_MS))}
        and not exists (select 1 from jobs j where j.id = d.job_id and j.finished_at is null)
      limit ${most} for update skip locked
    )
    delete from webhook_deliveries d using old where d.id = old.id returning 1`);
  return rows.length;
}

/**
 * Deletes what belongs to deleted webhooks, and then their rows. Returns how many deliveries were deleted, or names of
 * webhooks in messages, whichever are more.
 */
export async function forgetWebhooks(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* webhook_deliveries.delete_removed */
    with old as materialized (
      select d.id from webhooks w join webhook_deliveries d on d.webhook_id = w.id
      where w.deleted_at is not null limit ${most} for update of d skip locked
    )
    delete from webhook_deliveries d using old where d.id = old.id returning 1`);
  const names = await executor.execute(sql`/* job_webhooks.delete_removed */
    with old as materialized (
      select n.job_id, n.webhook_id from webhooks w join job_webhooks n on n.webhook_id = w.id
      where w.deleted_at is not null limit ${most} for update of n skip locked
    )
    delete from job_webhooks n using old where n.job_id = old.job_id and n.webhook_id = old.webhook_id returning 1`);
  await executor.execute(sql`/* webhooks.delete_removed */
    delete from webhooks w where w.deleted_at < ${nowInStatement} - interval '1 hour'
      and not exists (select 1 from webhook_deliveries d where d.webhook_id = w.id)
      and not exists (select 1 from job_webhooks n where n.webhook_id = w.id)`);
  return Math.max(rows.length, names.length);
}

function jsonOrNull(value: object | null): string | null {
  return value === null ? null : encodeJson(value);
}
