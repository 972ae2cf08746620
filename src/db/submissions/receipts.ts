/**
 * Receipts: which rows of an outbox have become submissions, until they are deleted there. They outlive their rows only if a
 * process dies between both.
 */
import { sql } from 'drizzle-orm';
import type { JobId, OutboxId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';

/** Days after which a receipt is deleted if no process has found its row: no config file names the outbox any more. */
export const RECEIPT_DAYS = 90;

export type RelayedRow = { position: number; jobId: JobId };

/** The positions of those that are new. The others have become submissions before. */
export async function addReceipts(tx: Executor, outboxId: OutboxId, rows: readonly RelayedRow[]): Promise<number[]> {
  const added = await tx.execute<{ position: number }>(sql`/* outbox.add_receipts */
    insert into outbox_receipts (outbox_id, position, job_id)
      select ${outboxId}::uuid, r.position, r."jobId"
      from jsonb_to_recordset(${encodeJson(rows)}::jsonb) as r(position bigint, "jobId" uuid)
    on conflict do nothing returning position::float8 as position`);
  return added.map(({ position }) => position);
}

/** Their rows are deleted from the outbox, or stay there as refused. */
export async function removeReceipts(
  executor: Executor,
  outboxId: OutboxId,
  positions: readonly number[],
): Promise<void> {
  await executor.execute(sql`/* outbox.remove_receipts */
    delete from outbox_receipts r
    where r.outbox_id = ${outboxId} and r.position = any (${toArray(positions)})`);
}

/** Positions with a receipt, the first ones after `after`, at most `most`. */
export async function findReceipts(
  executor: Executor,
  outboxId: OutboxId,
  { after, most }: { after: number; most: number },
): Promise<number[]> {
  const rows = await executor.execute<{ position: number }>(sql`
    select r.position::float8 as position from outbox_receipts r
    where r.outbox_id = ${outboxId} and r.position > ${after}::bigint order by r.position limit ${most}`);
  return rows.map(({ position }) => position);
}

/** Their rows are still there. Written once a day. */
export async function keepReceipts(
  executor: Executor,
  outboxId: OutboxId,
  positions: readonly number[],
): Promise<void> {
  await executor.execute(sql`/* outbox.keep_receipts */
    update outbox_receipts r set seen_at = clock_timestamp()
    where r.outbox_id = ${outboxId} and r.position = any (${toArray(positions)})
      and r.seen_at < clock_timestamp() - interval '1 day'`);
}

/** Deletes those that no process has found for `RECEIPT_DAYS`, at most `most`. Returns how many. */
export async function forgetReceipts(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* outbox.forget_receipts */
    with old as materialized (
      select r.outbox_id, r.position, r.job_id from outbox_receipts r
      where r.seen_at < clock_timestamp() - ${RECEIPT_DAYS}::int * interval '1 day'
      order by r.seen_at limit ${most} for update skip locked
    )
    delete from outbox_receipts r using old o
    where r.outbox_id = o.outbox_id and r.position = o.position and r.job_id = o.job_id returning 1`);
  return rows.length;
}

function toArray(positions: readonly number[]) {
  return sql`${`{${positions.join(',')}}`}::bigint[]`;
}
