/** Stores how attempts went. The transaction locks the row of the webhook first, as one that adds deliveries does. */
import { sql, type SQL } from 'drizzle-orm';
import type { DeliveryId, JobId, ProcessId, WebhookId } from '../../core/ids.ts';
import type { DeliveryStatus, DisabledReason } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson, plainText } from '../connection/codec.ts';
import { dueNow, dueNowInStatement } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';

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
      at_once = false,
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
export async function retryNow(tx: Executor, webhookId: WebhookId): Promise<void> {
  await tx.execute(sql`/* webhook_deliveries.retry_now */
    update webhook_deliveries d set next_attempt_at = ${dueNowInStatement}
    where d.webhook_id = ${webhookId} and d.status = 'pending' and d.attempts > 0
      and d.next_attempt_at > ${dueNowInStatement}`);
}

/** When a process looks for deliveries of the webhook `w` again. What was asked for at once does not wait for its hold. */
function dueAt(heldUntil: SQL): SQL {
  return sql`least(
        case when waiting.next is not null then greatest(waiting.next, ${heldUntil}) end, waiting.at_once)`;
}

/** The earliest attempts of pending deliveries. */
function waitingOf(id: WebhookId): SQL {
  return sql`waiting as materialized (
      select (select min(d.next_attempt_at) from webhook_deliveries d
          where d.webhook_id = ${id} and d.status = 'pending') as next,
        (select min(d.next_attempt_at) from webhook_deliveries d where d.webhook_id = ${id} and d.at_once) as at_once
    )`;
}

function withoutLease(owner: ProcessId): SQL {
  return sql`lease_owner = case when w.lease_owner = ${owner} then null else w.lease_owner end,
      lease_until = case when w.lease_owner = ${owner} then null else w.lease_until end`;
}

/** Ends the lease of a batch without deliveries. It says nothing about the receiver. */
export async function endLease(tx: Executor, id: WebhookId, owner: ProcessId): Promise<void> {
  await tx.execute(sql`/* webhooks.end_lease */
    with ${waitingOf(id)}
    update webhooks w set due_at = case when w.status = 'active' then ${dueAt(sql`w.held_until`)} end,
      ${withoutLease(owner)}
    from waiting where w.id = ${id}`);
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

/**
 * Ends the lease, and says when the webhook is due again. `givenUp`: deliveries that this batch gave up. The webhook is
 * disabled if nothing has been delivered since one of them was made. Returns why it is disabled now; null: it is not.
 */
export async function storeHealth(
  tx: Executor,
  id: WebhookId,
  { owner, isWorking, error, failures, holdMs, isGone }: Health,
  givenUp: readonly DeliveryId[],
): Promise<DisabledReason | null> {
  const [row] = await tx.execute<{ reason: DisabledReason | null }>(sql`/* webhooks.store_health */
    with ${waitingOf(id)}, decided as materialized (
      select w.id,
        case when ${holdMs}::float8 > 0 then ${dueNow} + ${holdMs}::float8 * interval '1 millisecond' end as held_until,
        case when ${isGone}::boolean then 'gone'
          when not ${isWorking}::boolean and exists (
            select 1 from webhook_deliveries d
            where d.id in (select i::uuid from jsonb_array_elements_text(${encodeJson(givenUp)}::jsonb) i)
              and d.created_at > coalesce(w.last_success_at, '-infinity')
          ) then 'failing' end as reason
      from webhooks w where w.id = ${id}
    )
    update webhooks w set
      last_success_at = case when ${isWorking}::boolean then ${dueNow} else w.last_success_at end,
      last_failure_at = case when ${error}::text is not null then ${dueNow} else w.last_failure_at end,
      last_error = coalesce(${error}::text, w.last_error),
      failing_since = case when not ${isWorking}::boolean and waiting.next is not null
        then coalesce(w.failing_since, case when ${error}::text is not null then ${dueNow} end) end,
      failures = ${failures}::int,
      held_until = decided.held_until,
      status = case when w.status = 'active' and decided.reason is not null then 'disabled' else w.status end,
      disabled_reason = case when w.status = 'active' then decided.reason else w.disabled_reason end,
      due_at = case when w.status = 'active' and decided.reason is null then ${dueAt(sql`decided.held_until`)} end,
      ${withoutLease(owner)}
    from decided, waiting where w.id = decided.id
    returning case when w.status = 'disabled' then decided.reason end as reason`);
  return row?.reason ?? null;
}

/** Ends all leases of a process that stops: another process may send to them at once. */
export async function unlease(executor: Executor, owner: ProcessId): Promise<void> {
  await executor.execute(sql`/* webhooks.release */
    update webhooks w set lease_owner = null, lease_until = null where w.lease_owner = ${owner}`);
}
