/** Adds deliveries. The rows of their webhooks are locked. */
import { sql } from 'drizzle-orm';
import type { ContextId, DeliveryId, JobId, TenantId, WebhookId } from '../../core/ids.ts';
import {
  LONGEST_DELAY_MS,
  RETRIED_FOR_MS,
  type DeliveryType,
  type DisabledReason,
} from '../../core/webhooks/webhook.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { dueNow } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';
import { written } from '../rows/written-columns.ts';
import { webhookDeliveries } from '../schema/webhooks/webhooks.ts';

/** A job and a webhook that receives its events. */
type Pair = { webhookId: WebhookId; jobId: JobId };

const PAIRS = recordset<Pair>(
  'p',
  columns({
    webhook_id: ['uuid', ({ webhookId }) => webhookId],
    job_id: ['uuid', ({ jobId }) => jobId],
  }),
);

/** `last`: the number of the last delivery; 0: there is none. `isHeld`: one of them is pending. */
export type Sequence = Pair & { last: number; isHeld: boolean };

export async function sequences(tx: Executor, pairs: readonly Pair[]): Promise<Sequence[]> {
  return tx.execute<Sequence>(sql`
    select p.webhook_id as "webhookId", p.job_id as "jobId", coalesce(d.last, 0) as last, coalesce(d.held, false) as "isHeld"
    from ${PAIRS.table(pairs)} left join lateral (
      select max(d.seq) as last, bool_or(d.status = 'pending') as held from webhook_deliveries d
      where d.webhook_id = p.webhook_id and d.job_id = p.job_id
    ) d on true`);
}

/** `isHeld`: an earlier delivery of the job to the webhook is pending. */
export type NewDelivery = Pair & {
  id: DeliveryId;
  tenantId: TenantId;
  contextId: ContextId;
  type: DeliveryType;
  seq: number;
  body: string;
  isHeld: boolean;
};

const DELIVERY = written<typeof webhookDeliveries, NewDelivery>(
  webhookDeliveries,
  {
    id: ({ id }) => id,
    tenantId: ({ tenantId }) => tenantId,
    webhookId: ({ webhookId }) => webhookId,
    contextId: ({ contextId }) => contextId,
    jobId: ({ jobId }) => jobId,
    type: ({ type }) => type,
    seq: ({ seq }) => seq,
    body: ({ body }) => body,
    nextAttemptAt: sql`${dueNow} + case when r.held then ${sql.raw(interval(LONGEST_DELAY_MS))} else interval '0' end`,
    giveUpAt: sql`${dueNow} + ${sql.raw(interval(RETRIED_FOR_MS))}`,
  },
  { given: 'r' },
);
const DELIVERIES = recordset('r', [
  ...columns<NewDelivery>({ held: ['boolean', ({ isHeld }) => isHeld] }),
  ...DELIVERY.fields,
]);

export async function addDeliveries(tx: Executor, deliveries: readonly NewDelivery[]): Promise<void> {
  const insert = sql.raw(DELIVERY.insert);
  await tx.execute(sql`/* webhook_deliveries.add */ ${insert} from ${DELIVERIES.table(deliveries)}`);
  // For the others, a pending delivery of their job has made it due.
  const due = deliveries.flatMap(({ webhookId, isHeld }) => (isHeld ? [] : [webhookId]));
  if (due.length === 0) return;
  await tx.execute(sql`/* webhooks.become_due */
    update webhooks w set due_at = least(w.due_at, greatest(w.held_until, ${dueNow}))
    where w.id in (select i::uuid from jsonb_array_elements_text(${encodeJson(due)}::jsonb) i) and w.status = 'active'`);
}

/** A test is sent once, at once, also while the webhook is on hold. */
export async function addTest(
  tx: Executor,
  test: { id: DeliveryId; tenantId: TenantId; webhookId: WebhookId; type: DeliveryType; body: string },
): Promise<void> {
  await tx.execute(sql`/* webhook_deliveries.add_test */
    insert into webhook_deliveries (id, tenant_id, webhook_id, type, body, next_attempt_at, give_up_at, at_once)
    values (${test.id}, ${test.tenantId}, ${test.webhookId}, ${test.type}, ${test.body}, ${dueNow}, ${dueNow}, true)`);
  await wakeWebhook(tx, test.webhookId);
}

/** A process looks at it now. If it is on hold, only what was asked for at once is sent. */
async function wakeWebhook(tx: Executor, id: WebhookId): Promise<void> {
  await tx.execute(sql`/* webhooks.wake */
    update webhooks w set due_at = ${dueNow} where w.id = ${id} and w.status = 'active'`);
}

/** Sends a delivery again, at once, and retries it for another three days. False: the webhook has no such delivery. */
export async function repeatDelivery(tx: Executor, webhookId: WebhookId, id: DeliveryId): Promise<boolean> {
  const rows = await tx.execute(sql`/* webhook_deliveries.repeat */
    update webhook_deliveries d set status = 'pending', next_attempt_at = ${dueNow}, at_once = true,
      give_up_at = ${dueNow} + case when d.job_id is null then interval '0' else ${sql.raw(interval(RETRIED_FOR_MS))} end
    where d.id = ${id} and d.webhook_id = ${webhookId} returning d.id`);
  if (rows.length > 0) await wakeWebhook(tx, webhookId);
  return rows.length > 0;
}

export async function disableWebhooks(tx: Executor, ids: readonly WebhookId[], reason: DisabledReason): Promise<void> {
  await tx.execute(sql`/* webhooks.disable */
    update webhooks w set status = 'disabled', disabled_reason = ${reason}, due_at = null, updated_at = ${dueNow}
    where w.id in (select i::uuid from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) i) and w.status = 'active'`);
}

/** Their last event for it is on its way: the names are not needed any more. */
export async function forgetNames(tx: Executor, jobIds: readonly JobId[]): Promise<void> {
  await tx.execute(sql`/* job_webhooks.delete */
    delete from job_webhooks n
    where n.job_id in (select i::uuid from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) i)`);
}

/** Of SQL, of a constant. */
export function interval(milliseconds: number): string {
  return `interval '${milliseconds} milliseconds'`;
}
