/**
 * The outbox of webhooks: each row names a batch of events that its transaction added. A worker process makes deliveries
 * from it in a later transaction.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { dueNow, millis, nowInStatement } from '../connection/instant.ts';
import { insertInto } from '../rows/written-columns.ts';
import type { BatchedEvent } from '../schema/events.ts';
import { webhookOutbox } from '../schema/webhooks/webhooks.ts';
import { isActive } from '../write/tenants/tenants.ts';

/**
 * The statement that adds a row for the events up to the head of the context `ctx`, if its tenant has webhooks. For
 * commands; a run knows from its claim whether there are any (see append/webhooks.ts).
 */
export const notifyOfHead: SQL = sql`
      ${insertInto(webhookOutbox, { tenantId: sql`ctx.tenant_id`, contextId: sql`ctx.id`, seq: sql`ctx.head_seq` })}
      from ctx where exists (select 1 from tenants t where t.id = ctx.tenant_id and t.notifies)`;

/** Only one process makes deliveries at a time, so that those of a job are numbered in order. */
const LOCK = 7_201_937;

/** False: another process makes deliveries. */
export async function lockOutbox(tx: Executor): Promise<boolean> {
  const [row] = await tx.execute<{ locked: boolean }>(
    sql`/* webhooks.lock_outbox */ select pg_try_advisory_xact_lock(${LOCK}::bigint) as locked`,
  );
  return row?.locked === true;
}

/** `events` null: the context was deleted. `at`: when they were added. */
export type OutboxRow = {
  id: number;
  tenantId: TenantId;
  contextId: ContextId;
  events: BatchedEvent[] | null;
  at: Millis | null;
};

/** Stored bytes of events that are read at once. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Neither postponed, nor behind a postponed row of its context. */
const IS_READY: SQL = sql`not exists (
        select 1 from webhook_outbox p
        where p.context_id = o.context_id and p.id <= o.id and p.retry_at > ${nowInStatement})`;

/** `id`: this row alone, if it is the first one of its context. Otherwise the oldest rows. */
export type OutboxRequest = { id: number } | { most: number };

export async function readOutbox(tx: Executor, request: OutboxRequest): Promise<OutboxRow[]> {
  const rows =
    'id' in request
      ? sql`select o.* from webhook_outbox o where o.id = ${request.id} and not exists (
          select 1 from webhook_outbox p where p.context_id = o.context_id and p.id < o.id)`
      : sql`select o.* from webhook_outbox o where ${IS_READY} order by o.id limit ${request.most}`;
  return tx.execute<OutboxRow>(sql`/* webhooks.read_outbox */
    select r.id, r."tenantId", r."contextId", r.events, r.at from (
      select o.id, o.tenant_id as "tenantId", o.context_id as "contextId", b.events, ${millis(sql`b.created_at`)} as at,
        sum(pg_column_size(b.events)) over (order by o.id rows between unbounded preceding and 1 preceding) as before
      from (${rows}) o
      left join lateral (
        select e.events, e.created_at from event_batches e where e.context_id = o.context_id and e.seq = o.seq limit 1
      ) b on true
    ) r where coalesce(r.before, 0) < ${MOST_BYTES} order by r.id`);
}

/** The oldest rows, by id. */
export async function readyRows(executor: Executor, most: number): Promise<number[]> {
  const rows = await executor.execute<{ id: number }>(sql`/* webhooks.list_outbox */
    select o.id from webhook_outbox o where ${IS_READY} order by o.id limit ${most}`);
  return rows.map(({ id }) => id);
}

/** Keeps a row and later ones of its context from the next passes. */
export async function postponeRow(executor: Executor, id: number): Promise<void> {
  await executor.execute(sql`/* webhooks.postpone_row */
    update webhook_outbox o set retry_at = ${dueNow} + interval '1 minute' where o.id = ${id}`);
}

/**
 * Keeps contexts from being deleted until the transaction ends: their deliveries would stay. Returns those that are
 * there; one that is being deleted is left out.
 */
export async function holdContexts(tx: Executor, contextIds: readonly ContextId[]): Promise<Set<ContextId>> {
  const rows = await tx.execute<{ id: ContextId }>(sql`/* webhooks.hold_contexts */
    select c.id from jsonb_array_elements_text(${encodeJson(contextIds)}::jsonb) as wanted(id)
    join contexts c on c.id = wanted.id::uuid
    -- Always true. It makes the planner expect few rows and find each context by its id.
    where wanted.id || '' = wanted.id for key share of c skip locked`);
  return new Set(rows.map(({ id }) => id));
}

/** Removes rows whose deliveries are made, and those of contexts that do not exist any more. */
export async function clearOutbox(
  tx: Executor,
  { done, left }: { done: readonly number[]; left: readonly number[] },
): Promise<void> {
  await tx.execute(sql`/* webhooks.clear_outbox */
    delete from webhook_outbox o
    where o.id in (select i::bigint from jsonb_array_elements_text(${encodeJson(done)}::jsonb) i)
      or (o.id in (select i::bigint from jsonb_array_elements_text(${encodeJson(left)}::jsonb) i)
        and not exists (select 1 from contexts c where c.id = o.context_id))`);
}

/** What there is to do: rows of the outbox, and webhooks with deliveries to send. */
export async function findWork(executor: Executor): Promise<{ outbox: boolean; due: boolean }> {
  const [row] = await executor.execute<{ outbox: boolean; due: boolean }>(sql`/* webhooks.find_work */
    select exists (select 1 from webhook_outbox o where o.retry_at is null or o.retry_at <= ${nowInStatement}) as outbox,
      exists (select 1 from webhooks w where w.due_at <= ${nowInStatement} and ${isActive(sql`w.tenant_id`)}) as due`);
  return row ?? { outbox: false, due: false };
}
