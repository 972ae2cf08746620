/** Stores how attempts went. The transaction locks the row of the webhook first, as one that adds deliveries does. */
import { sql } from 'drizzle-orm';
import type { DeliveryId, JobId, ProcessId, WebhookId } from '../../core/ids.ts';
import { RETRIED_FOR_MS, type DeliveryStatus, type DisabledReason } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson, plainText } from '../connection/codec.ts';
import { dueNow } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';
import { interval } from './deliveries.ts';

export type Attempt = {
  id: DeliveryId;
  isDelivered: boolean;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  durationMs: number;
  /** Until the next attempt. */
  delayMs: number;
};

const ATTEMPTS = recordset<Attempt>(
  'a',
  columns({
    id: ['uuid', ({ id }) => id],
    delivered: ['boolean', ({ isDelivered }) => isDelivered],
    response_status: ['int', ({ responseStatus }) => responseStatus],
    response_body: ['text', ({ responseBody }) => (responseBody === null ? null : plainText(responseBody))],
    error: ['text', ({ error }) => (error === null ? null : plainText(error))],
    duration_ms: ['int', ({ durationMs }) => durationMs],
    delay_ms: ['int', ({ delayMs }) => Math.round(delayMs)],
  }),
);

/** False: the webhook was deleted. */
export async function lockWebhook(tx: Executor, id: WebhookId): Promise<boolean> {
  const rows = await tx.execute(sql`/* webhooks.lock */
    select 1 from webhooks w where w.id = ${id} and w.deleted_at is null for no key update`);
  return rows.length > 0;
}

type Ended = { id: DeliveryId; jobId: JobId | null; status: DeliveryStatus };

/** An attempt of a delivery that is pending no more counts nothing: another process has sent it too. */
export async function storeAttempts(tx: Executor, attempts: readonly Attempt[]): Promise<Ended[]> {
  return tx.execute<Ended>(sql`/* webhook_deliveries.store_attempts */
    update webhook_deliveries d set
      status = case when a.delivered then 'delivered' when d.give_up_at <= ${dueNow} then 'failed' else 'pending' end,
      attempts = d.attempts + 1,
      last_attempt_at = ${dueNow},
      delivered_at = case when a.delivered then ${dueNow} end,
      next_attempt_at = case when not a.delivered and d.give_up_at > ${dueNow}
        then least(${dueNow} + a.delay_ms * interval '1 millisecond', d.give_up_at) end,
      duration_ms = a.duration_ms, response_status = a.response_status, response_body = a.response_body, error = a.error
    from ${ATTEMPTS.table(attempts)} where d.id = a.id and d.status = 'pending'
    returning d.id, d.job_id as "jobId", d.status`);
}

/** What an ended delivery delayed goes now. */
export async function releaseNext(tx: Executor, webhookId: WebhookId, jobIds: readonly JobId[]): Promise<void> {
  await tx.execute(sql`/* webhook_deliveries.release_next */
    update webhook_deliveries d set next_attempt_at = least(d.next_attempt_at, ${dueNow})
    from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) as wanted(job)
    where d.status = 'pending' and d.id = (
      select n.id from webhook_deliveries n
      where n.webhook_id = ${webhookId} and n.job_id = wanted.job::uuid and n.status = 'pending' order by n.seq limit 1)`);
}

/** A receiver that did not work works again: all that failed meanwhile goes now. */
export async function hasten(tx: Executor, webhookId: WebhookId): Promise<void> {
  await tx.execute(sql`/* webhook_deliveries.hasten */
    update webhook_deliveries d set next_attempt_at = ${dueNow}
    where d.webhook_id = ${webhookId} and d.status = 'pending' and d.attempts > 0 and d.next_attempt_at > ${dueNow}`);
}

/** How a batch of attempts went. */
export type Health = {
  owner: ProcessId;
  /** At least one was delivered. */
  isWorking: boolean;
  /** The last error; null: there was none, or only that of a test. */
  error: string | null;
  failures: number;
  holdMs: number;
  isGone: boolean;
};

/** Ends the lease, and says when the webhook is due again. Returns why the webhook is disabled now; null: it is not. */
export async function storeHealth(tx: Executor, id: WebhookId, health: Health): Promise<DisabledReason | null> {
  const { owner, isWorking, error, failures, holdMs, isGone } = health;
  const [row] = await tx.execute<{ reason: DisabledReason | null }>(sql`/* webhooks.store_health */
    with waiting as materialized (
      select min(d.next_attempt_at) as next from webhook_deliveries d where d.webhook_id = ${id} and d.status = 'pending'
    ), judged as materialized (
      select w.id, waiting.next,
        case when ${isWorking}::boolean or waiting.next is null and ${error}::text is null then null
          else coalesce(w.failing_since, case when ${error}::text is not null then ${dueNow} end) end as failing_since,
        case when ${holdMs}::float8 > 0 then ${dueNow} + ${holdMs}::float8 * interval '1 millisecond' end as held_until
      from webhooks w, waiting where w.id = ${id}
    ), decided as materialized (
      select j.*, case when ${isGone}::boolean then 'gone'
        when ${error}::text is not null and j.failing_since <= ${dueNow} - ${sql.raw(interval(RETRIED_FOR_MS))} then 'failing'
        end as reason
      from judged j
    )
    update webhooks w set
      last_success_at = case when ${isWorking}::boolean then ${dueNow} else w.last_success_at end,
      last_failure_at = case when ${error}::text is not null then ${dueNow} else w.last_failure_at end,
      last_error = coalesce(${error}::text, w.last_error),
      failing_since = d.failing_since,
      failures = ${failures}::int,
      held_until = d.held_until,
      status = case when w.status = 'active' and d.reason is not null then 'disabled' else w.status end,
      disabled_reason = case when w.status = 'active' then d.reason else w.disabled_reason end,
      due_at = case when w.status = 'active' and d.reason is null then greatest(d.next, d.held_until) end,
      lease_owner = case when w.lease_owner = ${owner} then null else w.lease_owner end,
      lease_until = case when w.lease_owner = ${owner} then null else w.lease_until end
    from decided d where w.id = d.id
    returning case when w.status = 'disabled' then d.reason end as reason`);
  return row?.reason ?? null;
}

/** Gives webhooks back unsent: another process may send to them at once. */
export async function unlease(executor: Executor, owner: ProcessId): Promise<void> {
  await executor.execute(sql`/* webhooks.release */
    update webhooks w set lease_owner = null, lease_until = null where w.lease_owner = ${owner}`);
}
