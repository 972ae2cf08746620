/**
 * Stop requests, and other requests to a context that may be running. Each transaction first locks the context for
 * control, which takes the row lock and raises `control_seq`, and then writes. If no live process owns the context,
 * locking also raises the epoch, and the caller may write history in the same transaction.
 */
import { sql } from 'drizzle-orm';
import type { Actor } from '../../core/access/actor.ts';
import type { ContextId, JobId, ProcessId, TenantId } from '../../core/ids.ts';
import type { RequestedStop } from '../../core/run/job.ts';
import { NONE_OWN, countdown, metBy } from '../calls/awaited.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { changedContextColumns, type ChangedContext } from './contexts.ts';
import { notifyOfHead } from '../webhooks/outbox.ts';
import { recordEvent, recordEvents } from './events.ts';
import { hasFollowUp, noticeOnceEnded } from './follow-ups/ends.ts';
import { dueNow } from '../connection/instant.ts';
import type { Place } from './places.ts';
import { isUnowned, type LeaseTimes } from '../processes/processes.ts';

/**
 * `owner`: the process to signal; null: no live process owns the context, and the caller may settle under its lease.
 */
export type LockedForControl = { owner: ProcessId | null; controlSeq: number };

/** Null: the tenant has no such context. */
export async function lockForControl(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  times: LeaseTimes,
): Promise<LockedForControl | null> {
  // The lock comes first: only then is it checked whether the owner is alive.
  const locked = await tx.execute(sql`/* contexts.lock_for_control */
    update contexts c set control_seq = c.control_seq + 1
    where c.id = ${contextId} and c.tenant_id = ${tenantId} returning c.id`);
  if (locked.length === 0) return null;
  const [row] = await tx.execute<LockedForControl>(sql`/* contexts.free_unowned */
    update contexts c set
      lease_epoch = c.lease_epoch + u.unowned::int,
      lease_owner = case when u.unowned then null else c.lease_owner end,
      scheduling_status = case when u.unowned and c.scheduling_status = 'running' then 'runnable' else c.scheduling_status end,
      next_check_at = case when u.unowned and c.scheduling_status = 'running' then ${dueNow} else c.next_check_at end
    from (select c.id, ${isUnowned(times)} as unowned from contexts c where c.id = ${contextId}) u
    where c.id = u.id and c.tenant_id = ${tenantId} returning c.lease_owner as owner, c.control_seq as "controlSeq"`);
  return row ?? null;
}

/** Takes the lease from an owner that did not answer. Null: it has answered, or the context does not exist. */
export async function fence(tx: Executor, contextId: ContextId): Promise<{ tenantId: TenantId } | null> {
  const [row] = await tx.execute<{ tenantId: TenantId }>(sql`/* contexts.fence */
    update contexts c set lease_owner = null, lease_epoch = c.lease_epoch + 1, control_seq = c.control_seq + 1,
      scheduling_status = 'runnable', next_check_at = ${dueNow}
    where c.id = ${contextId} and c.scheduling_status = 'running' and c.next_check_at is not null
    returning c.tenant_id as "tenantId"`);
  return row ?? null;
}

/** Why a job ends, and who requested it; null: not known. */
export type Why = { reason: string | null; by: Actor | null };

/** If a process runs the context and does not answer within `graceMs`, a sweep settles the request. */
type NewStopRequest = Why & { request: RequestedStop; graceMs: number };

/** Writes a stop request on an unfinished job, unless it has one. */
export async function writeStopRequest(
  tx: Executor,
  tenantId: TenantId,
  jobId: JobId,
  { request, reason, by, graceMs }: NewStopRequest,
): Promise<void> {
  const mode = request.kind === 'interrupt' ? request.mode : null;
  await tx.execute(sql`/* jobs.request_stop */
    with job as (
      update jobs set stop_kind = ${request.kind}, stop_mode = ${mode}, stop_reason = ${reason},
        stop_actor = ${actorJson(by)}::jsonb, stop_requested_at = clock_timestamp()
      where id = ${jobId} and tenant_id = ${tenantId} and stop_kind is null and finished_at is null
      returning context_id
    )
    update contexts c set next_check_at = clock_timestamp() + ${graceMs}::float8 * interval '1 millisecond'
    from job where c.id = job.context_id and c.scheduling_status = 'running'`);
}

function actorJson(by: Actor | null): string | null {
  return by === null ? null : encodeJson(by);
}

/**
 * `met`: contexts to wake because their calls need nothing more. `followUp`: the end has follow-ups for other contexts.
 */
export type Withdrawn = { headSeq: number; jobIds: JobId[]; met: ContextId[]; followUp: boolean };

/**
 * Withdraws delayed and queued jobs of a context. They never started, so no run has to answer. A context that no process
 * runs and that has no other work becomes idle at once. The caller has locked the context for control. Null: none of the
 * jobs is delayed or queued.
 */
export async function withdraw(
  tx: Executor,
  { tenantId, contextId }: Place,
  jobIds: readonly JobId[],
  { reason, by }: Why,
): Promise<Withdrawn | null> {
  const [row] = await tx.execute<Omit<Withdrawn, 'met'> & { met: ContextId[] | null }>(sql`/* jobs.withdraw */
    with was as materialized (
      select id, status from jobs
      where id in (select i::uuid from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) i)
        and context_id = ${contextId} and tenant_id = ${tenantId} and status in ('delayed', 'queued')
    ), job as (
      update jobs j set status = 'cancelled', finished_at = clock_timestamp(), stop_kind = 'cancel', stop_mode = null,
        stop_reason = ${reason}, stop_actor = ${actorJson(by)}::jsonb, stop_requested_at = clock_timestamp(), stop_delivered_at = clock_timestamp(),
        stopped_at = clock_timestamp(), parent_notice = ${noticeOnceEnded(sql`true`)}
      from was where j.id = was.id
      returning j.id, context_id, tenant_id, message_id, attempt, position, was.status = 'queued' as was_queued,
        ${hasFollowUp} as follow_up
    ), taken as (
      select count(*)::int as n, count(*) filter (where was_queued)::int as queued, jsonb_agg(id) as ids, bool_or(follow_up) as follow_up from job having count(*) > 0
    ), rests as (
      select c.id from contexts c, taken
      where c.id = ${contextId} and c.scheduling_status in ('runnable', 'waiting') and taken.queued > 0
        and c.queued = taken.queued
        and not exists (select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting'))
    ), ctx as (
      update contexts c set queued = c.queued - taken.queued, head_seq = c.head_seq + taken.n,
        scheduling_status = case when rests.id is null then c.scheduling_status else 'idle' end,
        next_check_at = case when rests.id is null then c.next_check_at end,
        -- If a withdrawn job killed its processes, the cause is gone.
        failed_claims = case when rests.id is null then c.failed_claims else 0 end
      from taken left join rests on true
      where c.id = ${contextId}
      returning c.id, c.tenant_id, c.head_seq, c.lease_epoch, c.message_count, taken.n, taken.ids, taken.follow_up
    ), message as (
      update messages m set status = 'withdrawn' from job where m.id = job.message_id
        and m.status in ('delayed', 'queued')
    ), untitled as (
      -- It may have named the worker that was made with it.
      update workers w set first_input = null from ctx
      where w.context_id = ctx.id and ctx.message_count = 0 and w.first_input is not null
    ), recorded as (
      ${recordEvents({
        first: sql`ctx.head_seq - ctx.n + 1`,
        last: sql`ctx.head_seq`,
        events: sql`(
          select json_agg(json_build_array(place - 1, 'JobFinished',
            json_build_object('job_id', id, 'status', 'cancelled', 'attempt', attempt)) order by place)
          from (select *, row_number() over (order by position, id) as place from job) placed)`,
      })}
    ), notified as (${notifyOfHead}
    ), ${countdown(sql`job`, NONE_OWN)}
    select head_seq as "headSeq", ids as "jobIds", ${metBy(sql`ctx.id`)} as met, follow_up as "followUp" from ctx`);
  return row === undefined ? null : { ...row, met: row.met ?? [] };
}

/** Makes the lease owner read its mailbox again at the next step. False: the tenant has no such context. */
export async function raiseControl(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<boolean> {
  const rows = await tx.execute(sql`/* contexts.raise_control */
    update contexts c set control_seq = c.control_seq + 1
    where c.id = ${contextId} and c.tenant_id = ${tenantId} returning c.id`);
  return rows.length > 0;
}

/**
 * Stops or starts a worker's context. The caller has locked it for control. If no job is active, the state changes at
 * once, otherwise when the job ends. Starting makes queued jobs runnable.
 */
export async function setStopped(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  stopped: boolean,
): Promise<ChangedContext> {
  const shown = stopped ? 'Stopped' : 'Idle';
  const [row] = await tx.execute<ChangedContext>(sql`/* contexts.set_stopped */
    with before as (
      select c.id, c.lease_owner is null and c.state = any(${stopped ? sql`array['Idle', 'PermanentFailure']` : sql`array['Stopped']`})
        and not exists (select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting')) as shown
      from contexts c where c.id = ${contextId} and c.tenant_id = ${tenantId}
    ), ctx as (
      update contexts c set
        stopped = ${stopped}::boolean,
        head_seq = c.head_seq + before.shown::int,
        state = case when before.shown then ${shown} else c.state end,
        state_since = case when before.shown then clock_timestamp() else c.state_since end,
        wake_seq = c.wake_seq + ${stopped ? 0 : 1}::int,
        scheduling_status = case when not ${stopped}::boolean and c.scheduling_status = 'idle' and c.queued > 0 then 'runnable' else c.scheduling_status end,
        next_check_at = case when not ${stopped}::boolean and c.scheduling_status = 'idle' and c.queued > 0
          then ${dueNow} else c.next_check_at end
      from before where c.id = before.id
      returning c.id, c.tenant_id, c.head_seq, c.wake_seq, c.lease_epoch, c.scheduling_status, before.shown
    ), recorded as (
      ${recordEvent({ name: 'StateChanged', data: { new_state: shown, job_id: null } }, sql`ctx where ctx.shown`)}
    )
    select ${changedContextColumns} from ctx`);
  if (row === undefined) throw new Error(`The locked context ${contextId} no longer exists.`);
  return row;
}
