/** The run logs of schedules: the newest runs of each. */
import { sql, type SQL } from 'drizzle-orm';
import type { ScheduleId, ScheduleRunId, TenantId } from '../../core/ids.ts';
import { SCHEDULE_LIMITS, type ScheduleRun } from '../../core/schedules/schedule.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis, nowInStatement, toTimestamp } from '../connection/instant.ts';

type NewRun = Omit<ScheduleRun, 'at' | 'manual'> & { scheduleId: ScheduleId; tenantId: TenantId };

/** Deletes the oldest ones beyond the limit. A run of an occurrence that has one already is an error. */
export async function addRun(tx: Executor, run: NewRun): Promise<void> {
  const { id, tenantId, scheduleId, status, contextId, jobId, messageId, error } = run;
  await tx.execute(sql`/* schedule_runs.add */
    with old as materialized (
      select r.id from schedule_runs r where r.schedule_id = ${scheduleId}
      order by r.id desc offset ${SCHEDULE_LIMITS.runs - 1} limit 10
    ), deleted as (
      delete from schedule_runs r using old where r.id = old.id
    )
    insert into schedule_runs (id, tenant_id, schedule_id, occurrence, missed_until, at, status, target_context_id,
      job_id, message_id, error)
    values (${id}, ${tenantId}, ${scheduleId}, ${toTimestamp(run.occurrence)}::timestamptz,
      ${toTimestamp(run.missedUntil)}::timestamptz, ${nowInStatement}, ${status}, ${contextId}, ${jobId}, ${messageId},
      ${error === null ? null : encodeJson(error)}::jsonb)`);
}

const runColumns: SQL = sql`r.id, ${millis(sql`r.occurrence`)} as occurrence,
  ${millis(sql`r.missed_until`)} as "missedUntil", ${millis(sql`r.at`)} as at, r.status, r.job_id as "jobId",
  r.target_context_id as "contextId", r.message_id as "messageId", r.error, r.occurrence is null as manual`;

/** Newest first. `after`: an id. Null: the tenant has no such schedule. */
export async function listRuns(
  executor: Executor,
  tenantId: TenantId,
  scheduleId: ScheduleId,
  { after, limit }: { after: ScheduleRunId | null; limit: number },
): Promise<ScheduleRun[] | null> {
  const rows = await executor.execute<{ run: boolean } & ScheduleRun>(sql`
    select r.id is not null as run, ${runColumns} from schedules s left join lateral (
      select * from schedule_runs r
      where r.schedule_id = s.id and r.tenant_id = s.tenant_id and (${after}::uuid is null or r.id < ${after}::uuid)
      order by r.id desc limit ${limit}
    ) r on true
    where s.id = ${scheduleId} and s.tenant_id = ${tenantId} order by r.id desc`);
  if (rows.length === 0) return null;
  return rows.flatMap(({ run, ...row }) => (run ? [row] : []));
}

/** The newest run of each of these schedules. Those that never ran are missing. */
export async function newestRuns(
  executor: Executor,
  tenantId: TenantId,
  scheduleIds: readonly ScheduleId[],
): Promise<ReadonlyMap<ScheduleId, ScheduleRun>> {
  const rows = await executor.execute<{ scheduleId: ScheduleId } & ScheduleRun>(sql`
    select a.id::uuid as "scheduleId", ${runColumns}
    from jsonb_array_elements_text(${encodeJson(scheduleIds)}::jsonb) as a(id) cross join lateral (
      select * from schedule_runs r where r.schedule_id = a.id::uuid and r.tenant_id = ${tenantId}
      order by r.id desc limit 1) r`);
  return new Map(rows.map(({ scheduleId, ...run }) => [scheduleId, run]));
}
