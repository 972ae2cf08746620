/** Schedules: made, read, changed and deleted by clients. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, ScheduleId, TenantId } from '../../core/ids.ts';
import type { Start } from '../../core/schedules/plan.ts';
import type { Schedule, ScheduledWorker, ScheduleTarget, Timing } from '../../core/schedules/schedule.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis, nowInStatement, toTimestamp } from '../connection/instant.ts';
import { toPage, withinBytes, type OfPage, type Page, type PageRequest } from '../read/page.ts';

type Row = Omit<Schedule, 'timing' | 'target'> & {
  cron: string | null;
  everyS: number | null;
  anchorAt: Millis | null;
  onceAt: Millis | null;
  targetContextId: ContextId | null;
  worker: ScheduledWorker | null;
};

/** The columns of a schedule `s`. */
export const scheduleColumns: SQL = sql`s.id, s.tenant_id as "tenantId", s.user_name as "user", s.actor, s.name, s.cron,
  s.every_s as "everyS", ${millis(sql`s.anchor_at`)} as "anchorAt", ${millis(sql`s.once_at`)} as "onceAt", s.timezone,
  s.target_context_id as "targetContextId", s.worker, s.content, s.overlap, s.catch_up as "catchUp",
  s.jitter_s as "jitterS", s.paused, s.paused_reason as "pausedReason",
  ${millis(sql`s.next_occurrence`)} as "nextOccurrence", ${millis(sql`s.next_run_at`)} as "nextRunAt",
  ${millis(sql`s.last_run_at`)} as "lastRunAt", s.last_job_id as "lastJobId", s.version,
  ${millis(sql`s.created_at`)} as "createdAt", ${millis(sql`s.updated_at`)} as "updatedAt"`;

export function toSchedule(row: Row): Schedule {
  const { id, tenantId, user, actor, name, timezone, content, overlap, catchUp, jitterS, paused, pausedReason } = row;
  const { nextOccurrence, nextRunAt, lastRunAt, lastJobId, version, createdAt, updatedAt } = row;
  const settings = { name, timezone, content, overlap, catchUp, jitterS, paused };
  const plan = { pausedReason, nextOccurrence, nextRunAt, lastRunAt, lastJobId };
  const own = { id, tenantId, user, actor, version, createdAt, updatedAt };
  return { ...own, ...settings, ...plan, timing: timingOf(row), target: targetOf(row) };
}

export type ScheduleRow = Row;

function timingOf({ id, cron, everyS, anchorAt, onceAt }: Row): Timing {
  if (cron !== null) return { kind: 'cron', cron };
  if (everyS !== null && anchorAt !== null) return { kind: 'every', everyS, anchor: anchorAt };
  if (onceAt !== null) return { kind: 'at', at: onceAt };
  throw new Error(`The schedule ${id} has no timing.`);
}

function targetOf({ id, targetContextId, worker }: Row): ScheduleTarget {
  if (targetContextId !== null) return { kind: 'context', contextId: targetContextId };
  if (worker !== null) return { kind: 'worker', worker };
  throw new Error(`The schedule ${id} has no target.`);
}

/** By PostgreSQL's clock. */
export async function currentTime(executor: Executor): Promise<Millis> {
  const [row] = await executor.execute<{ now: Millis }>(sql`select ${millis(nowInStatement)} as now`);
  if (row === undefined) throw new Error('PostgreSQL did not tell the time.');
  return row.now;
}

/**
 * Locks the schedules of a tenant against other transactions that make some. Returns how many there are. Null: the tenant
 * is not active.
 */
export async function lockSchedules(tx: Executor, tenantId: TenantId): Promise<number | null> {
  const locked = await tx.execute(sql`/* schedules.lock_all */
    select 1 from tenants t where t.id = ${tenantId} and t.status = 'active' for no key update`);
  if (locked.length === 0) return null;
  const [row] = await tx.execute<{ count: number }>(sql`
    select count(*)::int as count from schedules s where s.tenant_id = ${tenantId}`);
  return row?.count ?? 0;
}

export type NewSchedule = Omit<
  Schedule,
  'version' | 'pausedReason' | 'nextOccurrence' | 'nextRunAt' | 'lastRunAt' | 'lastJobId' | 'createdAt' | 'updatedAt'
> & { next: Start | null };

export async function addSchedule(tx: Executor, schedule: NewSchedule): Promise<Schedule> {
  const { id, tenantId, user, actor, paused, next } = schedule;
  const rows = await tx.execute<Row>(sql`/* schedules.add */
    insert into schedules as s (id, tenant_id, user_name, actor, name, cron, every_s, anchor_at, once_at, timezone,
      target_context_id, worker, content, overlap, catch_up, jitter_s, paused, next_occurrence, next_run_at)
    values (${id}, ${tenantId}, ${user}, ${encodeJson(actor)}::jsonb, ${settingsOf(schedule)}, ${paused},
      ${toTimestamp(next?.occurrence ?? null)}::timestamptz, ${toTimestamp(startAt(paused, next))}::timestamptz)
    returning ${scheduleColumns}`);
  return onlyRow(rows, id);
}

/** Changes a schedule that the transaction has locked. Another target has no last job. */
export async function changeSchedule(
  tx: Executor,
  schedule: Schedule,
  next: Start | null,
  isOtherTarget: boolean,
): Promise<Schedule> {
  const { id, tenantId, paused, pausedReason } = schedule;
  const rows = await tx.execute<Row>(sql`/* schedules.change */
    update schedules s set (name, cron, every_s, anchor_at, once_at, timezone, target_context_id, worker, content,
        overlap, catch_up, jitter_s) = row(${settingsOf(schedule)}),
      paused = ${paused}, paused_reason = ${pausedReason},
      next_occurrence = ${toTimestamp(next?.occurrence ?? null)}::timestamptz,
      next_run_at = ${toTimestamp(startAt(paused, next))}::timestamptz,
      last_job_id = case when ${isOtherTarget} then null else s.last_job_id end,
      version = s.version + 1, updated_at = ${nowInStatement}
    where s.id = ${id} and s.tenant_id = ${tenantId} returning ${scheduleColumns}`);
  return onlyRow(rows, id);
}

function settingsOf(schedule: Omit<NewSchedule, 'next'>): SQL {
  const { name, timing, timezone, target, content, overlap, catchUp, jitterS } = schedule;
  const every = timing.kind === 'every' ? timing : null;
  return sql`${name}, ${timing.kind === 'cron' ? timing.cron : null}::text, ${every?.everyS ?? null}::int,
    ${toTimestamp(every?.anchor ?? null)}::timestamptz,
    ${toTimestamp(timing.kind === 'at' ? timing.at : null)}::timestamptz, ${timezone},
    ${target.kind === 'context' ? target.contextId : null}::uuid,
    ${target.kind === 'worker' ? encodeJson(target.worker) : null}::json, ${encodeJson(content)}::json, ${overlap},
    ${catchUp}, ${jitterS}::int`;
}

function startAt(paused: boolean, next: Start | null): Millis | null {
  return paused ? null : (next?.startAt ?? null);
}

function onlyRow([row]: readonly Row[], id: ScheduleId): Schedule {
  if (row === undefined) throw new Error(`The schedule ${id} was not stored.`);
  return toSchedule(row);
}

/** Null: the tenant has no such schedule. */
export async function findSchedule(executor: Executor, tenantId: TenantId, id: ScheduleId): Promise<Schedule | null> {
  const [row] = await executor.execute<Row>(sql`
    select ${scheduleColumns} from schedules s where s.id = ${id} and s.tenant_id = ${tenantId}`);
  return row === undefined ? null : toSchedule(row);
}

/** The same, and locks it until the transaction ends. `now`: by PostgreSQL's clock. */
export async function lockSchedule(
  tx: Executor,
  tenantId: TenantId,
  id: ScheduleId,
): Promise<{ schedule: Schedule; now: Millis } | null> {
  const [row] = await tx.execute<Row & { now: Millis }>(sql`/* schedules.lock */
    select ${scheduleColumns}, ${millis(nowInStatement)} as now
    from schedules s where s.id = ${id} and s.tenant_id = ${tenantId} for update`);
  if (row === undefined) return null;
  return { schedule: toSchedule(row), now: row.now };
}

/** Newest first. `after`: an id. */
export async function listSchedules(
  executor: Executor,
  tenantId: TenantId,
  { after, limit }: PageRequest<ScheduleId | null>,
): Promise<Page<Schedule>> {
  const rows = sql`select ${scheduleColumns}, octet_length(s.content::text) as bytes from schedules s
    where s.tenant_id = ${tenantId} and (${after}::uuid is null or s.id < ${after}::uuid)
    order by s.id desc limit ${limit}`;
  return toPage(
    await executor.execute<OfPage & { bytes: number } & Row>(withinBytes(rows, sql`p.id desc`)),
    toSchedule,
  );
}

/** Deletes its run log too. False: the tenant has no such schedule. */
export async function deleteSchedule(tx: Executor, tenantId: TenantId, id: ScheduleId): Promise<boolean> {
  const rows = await tx.execute(sql`/* schedules.delete */
    delete from schedules s where s.id = ${id} and s.tenant_id = ${tenantId} returning 1`);
  return rows.length > 0;
}

/** A manual run started a job. */
export async function noteRun(tx: Executor, id: ScheduleId, jobId: JobId): Promise<void> {
  await tx.execute(sql`/* schedules.note_run */
    update schedules set last_run_at = ${nowInStatement}, last_job_id = ${jobId} where id = ${id}`);
}
