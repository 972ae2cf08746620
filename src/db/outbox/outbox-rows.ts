/** Statements of the relay, in the database of the service. The connection's `search_path` is the schema of the outbox. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, OutboxId } from '../../core/ids.ts';
import type { OutboxError } from '../../core/submissions/outbox.ts';
import { SUBMISSION_BYTES } from '../../core/submissions/submission.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { atMost, isExactly } from '../rows/by-index.ts';

export type OutboxAbout = { id: OutboxId; version: number };

/** Null: it is not installed. */
export async function readAbout(executor: Executor): Promise<OutboxAbout | null> {
  const [about] = await executor.execute<OutboxAbout>(sql`select a.id, a.version from outbox_about a`);
  return about ?? null;
}

/** Until the end of the transaction. Null: another process relays the rows. */
export async function lockOutbox(tx: Executor): Promise<OutboxAbout | null> {
  const [about] = await tx.execute<OutboxAbout>(sql`/* outbox.lock */
    select a.id, a.version from outbox_about a for update skip locked`);
  return about ?? null;
}

/** Rejects if the session of the transaction has ended, and with it its locks. */
export async function checkOutboxLock(tx: Executor): Promise<void> {
  await tx.execute(sql`/* outbox.still_locked */ select 1`);
}

/** `bytes`: of its submission. `ageMs`: since it was inserted. */
export type WaitingRow = { position: number; contextId: string; bytes: number; ageMs: number };

/** The first rows, at most `most`, without those of the tenants `held`, of which none is read. */
export async function waitingRows(executor: Executor, held: readonly string[], most: number): Promise<WaitingRow[]> {
  return executor.execute<WaitingRow>(held.length === 0 ? firstRows(most) : firstRowsWithout(held, most));
}

const WAITING_ROW = sql`o.position::float8 as position, o.context_id as "contextId",
  octet_length(o.submission) as bytes,
  greatest(0, extract(epoch from clock_timestamp() - o.created_at) * 1000)::float8 as "ageMs"`;

const firstRows = (most: number): SQL => sql`
  select ${WAITING_ROW} from outbox o where o.refused_at is null order by o.position limit ${most}`;

/** As in the index `outbox_waiting_of_tenant`. */
const TENANT = sql`left(o.tenant, 65)`;

/** Those of a tenant, in the order of the index. */
const ofTenant = (tenant: SQL): SQL =>
  sql`o.refused_at is null and ${isExactly(TENANT, tenant)} order by ${TENANT}, o.position`;

/**
 * The index leads from each tenant to the next one, and to the first row of those that are not held. The first `most` rows
 * are among the first `most` of the tenants with the first `most` of these.
 */
const firstRowsWithout = (held: readonly string[], most: number): SQL => sql`/* outbox.waiting_of_others */
  with recursive waiting(tenant) as (
    (select ${TENANT} from outbox o where o.refused_at is null order by 1 limit 1)
    union all
    select (select ${TENANT} from outbox o where o.refused_at is null and ${TENANT} > waiting.tenant order by 1 limit 1)
    from waiting where waiting.tenant is not null
  ), first as materialized (
    select waiting.tenant from waiting cross join lateral (
      select o.position from outbox o where ${ofTenant(sql`waiting.tenant`)} limit 1
    ) h
    where waiting.tenant not in ${[...held]} order by h.position limit ${most}
  )
  select f.* from first cross join lateral (
    select ${WAITING_ROW} from outbox o where ${ofTenant(sql`first.tenant`)} limit ${atMost(most)}
  ) f
  order by f.position limit ${most}`;

/**
 * The table belongs to the service, so its checks are not relied on. `submission` null: it is too large. `tenant`: as
 * much of it as tells that it is too long.
 */
export type OutboxRow = {
  position: number;
  jobId: JobId;
  tenant: string;
  contextId: string;
  submission: string | null;
};

/** In their order. One that another statement has locked is missing. */
export async function takeRows(tx: Executor, positions: readonly number[]): Promise<OutboxRow[]> {
  return tx.execute<OutboxRow>(sql`/* outbox.take */
    with taken as materialized (
      select o.* from outbox o where o.position = any (${toArray(positions)}) and o.refused_at is null
      order by o.position for update skip locked
    )
    select t.position::float8 as position, t.job_id as "jobId", left(t.tenant, 65) as tenant,
      t.context_id as "contextId", case when octet_length(t.submission) <= ${SUBMISSION_BYTES} then t.submission end
        as submission
    from taken t order by t.position`);
}

export async function deleteRows(tx: Executor, positions: readonly number[]): Promise<void> {
  await tx.execute(sql`/* outbox.delete */ delete from outbox o where o.position = any (${toArray(positions)})`);
}

export async function refuseRow(tx: Executor, position: number, error: OutboxError): Promise<void> {
  await tx.execute(sql`/* outbox.refuse */
    update outbox o set refused_at = clock_timestamp(), error = ${encodeJson(error)}::jsonb
    where o.position = ${position}::bigint`);
}

/** Those that are still there. */
export async function findRows(executor: Executor, positions: readonly number[]): Promise<number[]> {
  const rows = await executor.execute<{ position: number }>(sql`
    select o.position::float8 as position from outbox o where o.position = any (${toArray(positions)})`);
  return rows.map(({ position }) => position);
}

function toArray(positions: readonly number[]) {
  return sql`${`{${positions.join(',')}}`}::bigint[]`;
}
