/** Schedules that are due: found by worker processes, and taken by one transaction each. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, ScheduleId } from '../../core/ids.ts';
import type { Start } from '../../core/schedules/plan.ts';
import type { Schedule, ScheduledWorker } from '../../core/schedules/schedule.ts';
import type { AllowedTenant } from '../../core/access/tenant.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { millis, nowInStatement, toTimestamp } from '../connection/instant.ts';
import { atMost, isExactly } from '../rows/by-index.ts';
import { isActive } from '../write/tenants/tenants.ts';
import { scheduleColumns, toSchedule, type ScheduleRow } from './schedules.ts';

/** `worker`: that each of its runs creates; null: it posts to a context. */
export type DueSchedule = AllowedTenant & {
  id: ScheduleId;
  version: number;
  worker: ScheduledWorker | null;
};

/** `nextInMs`: how long until the next one is due; null: none is. */
export type DueSchedules = { due: DueSchedule[]; nextInMs: number | null };

/** `at`: the time in a test; null: by PostgreSQL's clock. */
function timeOr(at: Millis | null): SQL {
  return sql`coalesce(${toTimestamp(at)}::timestamptz, ${nowInStatement})`;
}

const isOf = (tenant: SQL): SQL => isExactly(sql`s.tenant_id`, tenant);

/**
 * At most `most`, one of each tenant before the second of any, and the oldest of each tenant. Which tenants come first is
 * random, because several processes look at once. If any schedule is due, it reads one index entry for each tenant with
 * schedules, and one for each schedule of the chosen tenants that it ranks: so a backlog costs no other tenant a place,
 * and that of a suspended tenant is never read.
 */
export async function dueSchedules(executor: Executor, most: number, at: Millis | null = null): Promise<DueSchedules> {
  type Found = DueSchedule & { inMs: number | null };
  const now = timeOr(at);
  const rows = await executor.execute<Found>(sql`/* schedules.find_due */
    with recursive tenant(id) as (
      (select s.tenant_id from schedules s
        where s.next_run_at is not null and exists (select 1 from schedules d where d.next_run_at <= ${now})
        order by s.tenant_id, s.next_run_at limit 1)
      union all
      select (select s.tenant_id from schedules s
        where s.next_run_at is not null and s.tenant_id > tenant.id order by s.tenant_id, s.next_run_at limit 1)
      from tenant where tenant.id is not null
    ), chosen as materialized (
      select t.id from tenant join tenants t on t.id = tenant.id and t.status = 'active'
      cross join lateral (
        select 1 from schedules s where ${isOf(sql`t.id`)} and s.next_run_at <= ${now}
        order by s.tenant_id, s.next_run_at limit 1
      ) due
      order by random() limit ${most}
    ), due as materialized (
      select s.id, s.turn from chosen cross join lateral (
        select f.id, row_number() over (order by f.next_run_at) as turn from (
          select s.id, s.next_run_at from schedules s
          where ${isOf(sql`chosen.id`)} and s.next_run_at <= ${now} order by s.tenant_id, s.next_run_at
          limit ${atMost(most)}
        ) f
      ) s
      order by s.turn, random() limit ${most}
    ), later as materialized (
      select s.id, null::bigint as turn from schedules s
      where s.next_run_at > ${now} order by s.next_run_at limit 1
    )
    select s.id, s.tenant_id as "tenantId", s.version, s.worker, t.allow, t.limits,
      case when f.turn is null then ${millis(sql`s.next_run_at`)} - ${millis(now)} end as "inMs"
    from (select * from due union all select * from later) f join schedules s on s.id = f.id
    join tenants t on t.id = s.tenant_id
    order by f.turn`);
  const due = rows.filter(({ inMs }) => inMs === null);
  const later = rows.find(({ inMs }) => inMs !== null);
  return {
    due: due.map(({ id, tenantId, version, worker, allow, limits }) => ({
      id,
      tenantId,
      version,
      worker,
      allow,
      limits,
    })),
    nextInMs: later?.inMs ?? null,
  };
}

/** `isLastUnfinished`: of the job of its last run; asked only if `overlap` depends on it. */
export type TakenSchedule = {
  schedule: Schedule & { nextOccurrence: Millis };
  now: Millis;
  isLastUnfinished: boolean;
};

/**
 * Locks a schedule that is due. Null: it is not due any more, another process has it, or it has changed since it was
 * found, or its tenant is not active.
 */
export async function takeSchedule(
  tx: Executor,
  { id, tenantId, version }: DueSchedule,
  at: Millis | null,
): Promise<TakenSchedule | null> {
  const [row] = await tx.execute<ScheduleRow & { now: Millis }>(sql`/* schedules.take */
    select ${scheduleColumns}, ${millis(timeOr(at))} as now
    from schedules s
    where s.id = ${id} and s.tenant_id = ${tenantId} and s.version = ${version} and s.next_run_at <= ${timeOr(at)}
      and ${isActive(sql`s.tenant_id`)}
    for update of s skip locked`);
  if (row === undefined) return null;
  const { nextOccurrence, ...rest } = toSchedule(row);
  if (nextOccurrence === null) throw new Error(`The schedule ${id} is due without an occurrence.`);
  const isLastUnfinished = rest.overlap !== 'queue' && (await isUnfinished(tx, rest.lastJobId));
  return { schedule: { ...rest, nextOccurrence }, now: row.now, isLastUnfinished };
}

/** Asked after the schedule is locked: the locking statement would not see a job that was posted while it waited. */
async function isUnfinished(tx: Executor, jobId: JobId | null): Promise<boolean> {
  if (jobId === null) return false;
  const rows = await tx.execute(sql`
    select 1 from jobs j where j.id = ${jobId} and j.status in ('queued', 'running', 'waiting')`);
  return rows.length > 0;
}

/** `jobId`: that the run started; null: it started none. `pausedReason`: it pauses itself. */
type Advance = { next: Start | null; jobId: JobId | null; pausedReason: string | null };

/** Goes on to the next occurrence. */
export async function advance(tx: Executor, id: ScheduleId, { next, jobId, pausedReason }: Advance): Promise<void> {
  const isPaused = pausedReason !== null;
  await tx.execute(sql`/* schedules.advance */
    update schedules s set next_occurrence = ${toTimestamp(next?.occurrence ?? null)}::timestamptz,
      next_run_at = ${toTimestamp(isPaused ? null : (next?.startAt ?? null))}::timestamptz,
      last_run_at = case when ${jobId}::uuid is null then s.last_run_at else ${nowInStatement} end,
      last_job_id = coalesce(${jobId}::uuid, s.last_job_id), paused = s.paused or ${isPaused},
      paused_reason = ${pausedReason}
    where s.id = ${id}`);
}

/** After an error: another attempt later, so that the others are not held up. */
export async function postpone(executor: Executor, { id, version }: DueSchedule, byMs: number): Promise<void> {
  await executor.execute(sql`/* schedules.postpone */
    update schedules s set next_run_at = ${nowInStatement} + ${byMs}::float8 * interval '1 millisecond'
    where s.id = ${id} and s.version = ${version} and s.next_run_at <= ${nowInStatement}`);
}
