/**
 * Delayed inputs: a message and its job that are not in the queue of their context yet. Storing one changes only the
 * size of its context, so nothing claims or waits for it. A release gives all that are due their place in the queue.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { Delay } from '../../../core/run/delay.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { WAKE_UP_GRACE_MS, dueNow, millis, nowInStatement, toTimestamp } from '../../connection/instant.ts';
import { atMost, isExactly } from '../../rows/by-index.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';
import type { Place } from '../../run/places.ts';
import { isActive } from '../tenants/tenants.ts';
import {
  delayedInputCte,
  delayedJobCte,
  submittedRow,
  submittedRows,
  type NewInput,
  type NewJob,
} from './submission.ts';

/** Its start, and the present. */
export type DelayTimes = { startsAt: Millis; now: Millis };

/** Locks the context's row, and reads the clock. Null: the tenant has no such context. */
export async function lockToDelay(
  tx: Executor,
  { tenantId, contextId }: Place,
  delay: Delay,
): Promise<DelayTimes | null> {
  const [row] = await tx.execute<DelayTimes>(sql`/* contexts.lock_to_delay */
    select ${millis(startOf(delay))} as "startsAt", ${millis(nowInStatement)} as now
    from contexts where id = ${contextId} and tenant_id = ${tenantId} for no key update`);
  return row ?? null;
}

function startOf(delay: Delay): SQL {
  switch (delay.kind) {
    case 'after':
      return sql`(${nowInStatement} + ${delay.seconds}::float8 * interval '1 second')`;
    case 'at':
      return sql`${toTimestamp(delay.at)}::timestamptz`;
  }
}

export type DelayedInput = NewJob & {
  input: NewInput;
  tenantId: TenantId;
  contextId: ContextId;
  /** An existing branch; null: the active branch. */
  branch: string | null;
  startsAt: Millis;
  /** Refused if this many inputs are delayed or queued. */
  queueLimit: number;
};

/** The caller has locked the context's row. Null: refused; the context's row and its delayed jobs show why. */
export async function insertDelayed(tx: Executor, delayed: DelayedInput): Promise<{ headSeq: number } | null> {
  const { tenantId, contextId, branch, startsAt, queueLimit } = delayed;
  const given = submittedRow({ contextId, job: delayed, asker: null });
  const rows = submittedRows([given]);
  const [row] = await tx.execute<{ headSeq: number }>(sql`/* jobs.delay */
    with ctx as (
      update contexts c set stored_bytes = c.stored_bytes + ${given.bytes}::bigint
      where c.id = ${contextId} and c.tenant_id = ${tenantId} and not c.stopped
        and c.queued + c.steers + ${delayedOf(sql`c.id`)} < ${queueLimit}
      returning c.id, c.tenant_id, coalesce(${branch}, c.active_branch) as branch, c.head_seq,
        ${toTimestamp(startsAt)}::timestamptz as starts_at
    ), ${delayedInputCte(rows.inputs)}, ${delayedJobCte(rows.jobs)}, awake as (
      -- Takes an archived context out of the archive. A sweep computes when it expires.
      update workers w set archived_at = null, expires_at = ${dueNow}
      from ctx where w.context_id = ctx.id and w.archived_at is not null
    )
    select head_seq as "headSeq" from ctx`);
  return row ?? null;
}

/** How many delayed jobs a context has: at most as many as its queue may hold. */
function delayedOf(contextId: SQL): SQL {
  return sql`(select count(*)::int from jobs d where d.context_id = ${contextId} and d.status = 'delayed')`;
}

/** A context with delayed inputs that are due. */
export type DueContext = { tenantId: TenantId; contextId: ContextId };

/** `nextInMs`: how long until the next input is due; null: none is delayed. */
export type DueContexts = { due: DueContext[]; nextInMs: number | null };

const isDelayedOf = (tenant: SQL): SQL => sql`${isExactly(sql`j.tenant_id`, tenant)} and j.status = 'delayed'`;

/**
 * Contexts of active tenants with delayed inputs that are due, of at most `most` jobs: one of each tenant before the
 * second of any, and the oldest of each tenant. Which tenants come first is random, because several processes look at
 * once. If any is due, it reads one index entry for each tenant with delayed jobs, and those of the chosen tenants that
 * it ranks: so the backlog of a tenant costs no other one a place, and that of a suspended tenant is never read.
 */
export async function contextsWithDue(executor: Executor, most: number): Promise<DueContexts> {
  const rows = await executor.execute<DueContext & { inMs: number | null }>(sql`/* jobs.find_due */
    with recursive tenant(id) as (
      (select j.tenant_id from jobs j
        where j.status = 'delayed' and exists (
          select 1 from jobs d where d.status = 'delayed' and d.starts_at <= ${nowInStatement})
        order by j.tenant_id, j.starts_at limit 1)
      union all
      select (select j.tenant_id from jobs j
        where j.status = 'delayed' and j.tenant_id > tenant.id order by j.tenant_id, j.starts_at limit 1)
      from tenant where tenant.id is not null
    ), chosen as materialized (
      select t.id from tenant join tenants t on t.id = tenant.id and t.status = 'active'
      cross join lateral (
        select 1 from jobs j where ${isDelayedOf(sql`t.id`)} and j.starts_at <= ${nowInStatement}
        order by j.tenant_id, j.starts_at limit 1
      ) due
      order by random() limit ${most}
    ), due as materialized (
      select f.tenant_id, f.context_id, f.turn from chosen cross join lateral (
        select o.*, row_number() over (order by o.starts_at) as turn from (
          select j.tenant_id, j.context_id, j.starts_at from jobs j
          where ${isDelayedOf(sql`chosen.id`)} and j.starts_at <= ${nowInStatement}
          order by j.tenant_id, j.starts_at limit ${atMost(most)}
        ) o
      ) f
      order by f.turn, random() limit ${most}
    ), later as materialized (
      select j.tenant_id, j.context_id, ${millis(sql`j.starts_at`)} - ${millis(nowInStatement)} as in_ms from jobs j
      where j.status = 'delayed' and j.starts_at > ${nowInStatement} order by j.starts_at limit 1
    )
    select tenant_id as "tenantId", context_id as "contextId", null::float8 as "inMs" from due
    group by tenant_id, context_id
    union all
    select tenant_id, context_id, in_ms from later`);
  const due = rows.filter(({ inMs }) => inMs === null).map(({ tenantId, contextId }) => ({ tenantId, contextId }));
  return { due, nextInMs: rows.find(({ inMs }) => inMs !== null)?.inMs ?? null };
}

/** Locks the context's row if it is free and its tenant is active. False: another process has it, or it is deleted. */
export async function lockToRelease(tx: Executor, { tenantId, contextId }: Place): Promise<boolean> {
  const rows = await tx.execute(sql`/* contexts.lock_to_release */
    select c.id from contexts c where c.id = ${contextId} and c.tenant_id = ${tenantId} and ${isActive(tenantId)}
    for no key update of c skip locked`);
  return rows.length > 0;
}

/**
 * Queues all delayed inputs of a context that are due, in order of their starts, behind those that are queued. The
 * caller has locked the context's row. A stopped context keeps them in its queue until it is started. Null: none is due.
 */
export async function releaseDue(tx: Executor, { tenantId, contextId }: Place): Promise<ChangedContext | null> {
  const [row] = await tx.execute<ChangedContext>(sql`/* jobs.release */
    with due as materialized (
      select j.id, j.priority, row_number() over (order by j.starts_at, j.id) as place from jobs j
      where j.context_id = ${contextId} and j.tenant_id = ${tenantId} and j.status = 'delayed'
        and j.starts_at <= ${nowInStatement}
    ), taken as (
      select count(*)::int as n, min(priority) as priority from due having count(*) > 0
    ), ctx as (
      update contexts c set wake_seq = c.wake_seq + taken.n, queued = c.queued + taken.n,
        priority = case when c.scheduling_status = 'idle' then taken.priority else least(c.priority, taken.priority) end,
        scheduling_status = case when c.scheduling_status = 'idle' and not c.stopped then 'runnable'
          else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'idle' and not c.stopped
          then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' else c.next_check_at end
      from taken where c.id = ${contextId} and c.tenant_id = ${tenantId}
      returning c.id, c.head_seq, c.wake_seq, c.lease_epoch, c.scheduling_status, c.wake_seq - taken.n as wake_seq_before
    ), job as (
      update jobs j set status = 'queued', position = ctx.wake_seq_before + due.place
      from due, ctx where j.id = due.id returning j.message_id
    ), message as (
      update messages m set status = 'queued' from job where m.id = job.message_id
    )
    select ${changedContextColumns} from ctx`);
  return row ?? null;
}
