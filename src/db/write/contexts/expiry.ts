/**
 * Expiry: a context that is idle for its idle timeout is archived, and purged after a longer time in the archive.
 * Inputs do not touch these columns. `workers.expires_at` is the time of the next sweep, which moves it on.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { IdleTimeouts } from '../../../core/workers/settings.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { nowInStatement } from '../../connection/instant.ts';

/** Joins, as `r`, the role version of the API that the worker `w` was created from. */
export const joinRole: SQL = sql`left join roles r
  on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version`;

/** The idle timeout of the worker `w` with its role `r`, in seconds; null: never, or unknown to this process. */
export function idleTimeout(ofFile: IdleTimeouts): SQL {
  return sql`coalesce((w.config ->> 'idle_timeout_s')::float8, (r.definition ->> 'idle_timeout_s')::float8,
    case when w.role_version is null then (${encodeJson(ofFile)}::jsonb ->> w.role)::float8 end)`;
}

/** Whether this process knows the timeout. Only processes that have read the config file know its roles. */
export function isTimeoutKnown(ofFile: IdleTimeouts): SQL {
  return sql`(w.role is null or w.role_version is not null or w.config -> 'idle_timeout_s' is not null
    or ${encodeJson(ofFile)}::jsonb ? w.role)`;
}

/** The context `c` has an unfinished job, delayed ones included: the idle time does not run. */
export const isBusy: SQL = sql`(c.scheduling_status <> 'idle' or c.queued > 0
  or exists (select 1 from jobs d where d.context_id = c.id and d.status = 'delayed'))`;

/**
 * When the context of `w` is archived if it stays idle; null: never. `since`: when its state began. `busy`: see
 * `isBusy`.
 */
export function expiresAt(timeout: SQL, since: SQL, busy: SQL): SQL {
  return sql`greatest(w.updated_at, ${since}, case when ${busy} then clock_timestamp() end)
    + ${timeout} * interval '1 second'`;
}

/**
 * Checks contexts whose `expires_at` has passed: archives the idle ones and moves `expires_at` of the others on. An
 * archived context is checked once more a minute later, because an input that waited for the row's lock did not see
 * that it was archived. Skips locked rows. Returns how many contexts were checked, and how many were archived.
 */
export async function archiveIdle(
  executor: Executor,
  ofFile: IdleTimeouts,
  most: number,
): Promise<{ looked: number; archived: number }> {
  const next = expiresAt(sql`locked.timeout`, sql`locked.state_since`, sql`locked.busy`);
  const isAwake = sql`(locked.busy or locked.state_since > w.archived_at)`;
  const isOver = sql`${next} <= clock_timestamp()`;
  const rows = await executor.execute<{ archived: boolean }>(sql`/* workers.archive_idle */
    with due as (
      select w.context_id, ${idleTimeout(ofFile)} as timeout from workers w ${joinRole}
      where w.expires_at <= ${nowInStatement} and ${isTimeoutKnown(ofFile)}
      order by w.expires_at limit ${most}
    ), locked as materialized (
      select c.id, due.timeout, ${isBusy} as busy, c.state_since
      from due join contexts c on c.id = due.context_id for no key update of c skip locked
    )
    update workers w set
      archived_at = case
        when w.archived_at is not null then case when ${isAwake} then null else w.archived_at end
        when ${isOver} then clock_timestamp() end,
      expires_at = case
        when w.archived_at is not null then case when ${isAwake} then ${next} end
        when ${isOver} then clock_timestamp() + interval '1 minute'
        else ${next} end
    from locked where w.context_id = locked.id and w.expires_at <= ${nowInStatement}
    returning w.archived_at is not null and w.expires_at is not null as archived`);
  return { looked: rows.length, archived: rows.filter(({ archived }) => archived).length };
}

/** A worker whose context was archived long enough ago to be purged. */
type Purgeable = { id: WorkerId; contextId: ContextId; tenantId: TenantId };

/**
 * Whether the worker `w` with its context `c` may be purged: archived for so many days, with no change since. Clearing
 * or stopping an archived context restarts the time.
 */
function isOld(archivedDays: number): SQL {
  const since = sql`${nowInStatement} - ${archivedDays}::float8 * interval '1 day'`;
  return sql`w.archived_at <= ${since} and c.state_since <= ${since} and not ${isBusy}`;
}

/** Oldest first. A worker with child workers is kept until they are purged. */
export async function findPurgeable(executor: Executor, archivedDays: number, most: number): Promise<Purgeable[]> {
  return executor.execute<Purgeable>(sql`
    select w.id, w.context_id as "contextId", w.tenant_id as "tenantId"
    from workers w join contexts c on c.id = w.context_id
    where ${isOld(archivedDays)}
      and not exists (select 1 from workers child where child.parent_worker_id = w.id)
    order by w.archived_at limit ${most}`);
}

/** Locks the context's row if it is free. False: another transaction has locked it, or it does not exist. */
export async function lockFree(tx: Executor, contextId: ContextId): Promise<boolean> {
  const rows = await tx.execute(
    sql`/* contexts.lock_unlocked */ select c.id from contexts c where c.id = ${contextId} for no key update of c skip locked`,
  );
  return rows.length > 0;
}

/** Checks again, with the context's row locked, that it may be purged: it may have left the archive meanwhile. */
export async function isPurgeable(tx: Executor, contextId: ContextId, archivedDays: number): Promise<boolean> {
  const rows = await tx.execute(sql`
    select w.id from workers w join contexts c on c.id = w.context_id
    where w.context_id = ${contextId} and ${isOld(archivedDays)}`);
  return rows.length > 0;
}
