/** Reads the status of a context, to explain why it makes no progress. */
import { sql } from 'drizzle-orm';
import type { JobError } from '../../../core/errors.ts';
import type { Throttled } from '../../../core/run/throttle.ts';
import type { ContextId, JobId, TenantId } from '../../../core/ids.ts';
import { ASK_USER } from '../../../core/conversation/question.ts';
import type { Role, WorkerConfig } from '../../../core/workers/settings.ts';
import type { DurableState } from '../../../core/run/state.ts';
import type { Millis } from '../../../core/time.ts';
import { awaitedBelow, type AwaitedBelow } from '../../calls/awaited-below.ts';
import { awaitedWorkers, type AwaitedWorker } from '../../calls/awaited.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { isAwaited, type AwaitedCall } from '../../calls/replies.ts';
import { isDead, isUnowned, type LeaseTimes } from '../../processes/processes.ts';
import { retried, stateOf, type SchedulingStatus } from './shown-state.ts';

/** All data needed to explain why a context makes no progress. */
export type Diagnosis = {
  /** The shown state (see shown-state.ts). */
  state: DurableState;
  since: Millis;
  schedulingStatus: SchedulingStatus;
  stopped: boolean;
  queued: number;
  /** When a sweep checks the context; null: nothing is due. */
  nextCheckAt: Millis | null;
  /** Claims in a row after which the context made no progress. */
  failedClaims: number;
  /** The context is running, but its lease owner is dead. */
  abandoned: boolean;
  lastFailure: JobError | null;
  role: string | null;
  /** The definition of a role that was created through the API. */
  definition: Role | null;
  config: WorkerConfig;
  /** The job that is running or waiting. */
  active: {
    id: JobId;
    attempt: number;
    retryAt: Millis | null;
    error: JobError | Throttled | null;
    stopping: boolean;
  } | null;
  /** The first queued job. */
  next: { id: JobId; attempt: number; createdAt: Millis } | null;
  /** Names of the calls that are pending or started. */
  openCalls: string[];
  /** Calls that wait for something other than workers, oldest first. `question`: the text of an `ask_user` call. */
  awaited: (AwaitedCall & { question: string | null; since: Millis })[];
  /** Workers that calls wait for. */
  workers: AwaitedWorker[];
  /** Questions to persons and clients from the awaited workers and the workers they wait for. */
  below: AwaitedBelow[];
  /** Whether any worker process is alive. */
  live: boolean;
  /** While it waits for a worker process: its position among the due contexts of all tenants, from 1. */
  queuePosition: number | null;
  now: Millis;
};

type Row = {
  scheduling_status: SchedulingStatus;
  state: DurableState;
  since: Millis;
  stopped: boolean;
  queued: number;
  retried: boolean;
  next_check_at: Millis | null;
  failed_claims: number;
  abandoned: boolean;
  last_failure: JobError | null;
  role: string | null;
  definition: Role | null;
  config: WorkerConfig;
  active_id: JobId | null;
  active_attempt: number;
  retry_at: Millis | null;
  active_error: JobError | Throttled | null;
  stopping: boolean;
  next_id: JobId | null;
  next_attempt: number;
  next_at: Millis;
  open_calls: string[] | null;
  awaited: Diagnosis['awaited'] | null;
  workers: AwaitedWorker[] | null;
  below: AwaitedBelow[] | null;
  live: boolean;
  queue_position: number | null;
  now: Millis;
};

/** Null: the tenant has no such context. */
export async function findDiagnosis(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  times: LeaseTimes,
): Promise<Diagnosis | null> {
  const [row] = await executor.execute<Row>(sql`
    select c.scheduling_status, c.state, ${millis(sql`c.state_since`)} as since, c.stopped, c.queued, ${retried} as retried,
      ${millis(sql`c.next_check_at`)} as next_check_at, c.failed_claims, c.scheduling_status = 'running' and ${isUnowned(times)} as abandoned,
      c.last_failure, w.role, r.definition, w.config, a.id as active_id, a.attempt as active_attempt,
      ${millis(sql`a.retry_at`)} as retry_at, a.error as active_error, a.stop_kind is not null as stopping,
      n.id as next_id, n.attempt as next_attempt, ${millis(sql`n.created_at`)} as next_at,
      (select jsonb_agg(t.name order by t.ordinal) from tool_calls t
        where t.context_id = c.id and t.status in ('pending', 'started')) as open_calls,
      (select jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'since', ${millis(sql`t.asked_at`)},
          'for', coalesce(t.waits_for, 'answer'), 'until', ${millis(sql`t.expires_at`)},
          'question', (select b -> 'input' ->> 'question' from json_array_elements(m.content) b
            where b ->> 'id' = t.id::text and t.name = ${ASK_USER})) order by t.asked_at, t.ordinal)
        from tool_calls t join messages m on m.id = t.message_id
        where t.context_id = c.id and ${isAwaited} and t.waits_for is distinct from 'workers') as awaited,
      ${awaitedWorkers(sql`c.id`)} as workers,
      case when c.scheduling_status in ('waiting', 'running') then ${awaitedBelow(sql`c.id`)} end as below,
      exists (select 1 from processes p where not ${isDead(times)}) as live,
      case when c.scheduling_status = 'runnable' then (
        select count(*)::int from contexts o
        where o.next_check_at is not null and o.scheduling_status = 'runnable' and (o.next_check_at, o.id) <= (c.next_check_at, c.id)
      ) end as queue_position,
      ${millis(sql`clock_timestamp()`)} as now
    from contexts c join workers w on w.context_id = c.id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join jobs a on a.context_id = c.id and a.status in ('running', 'waiting')
    left join lateral (
      select j.id, j.attempt, j.created_at from jobs j where j.context_id = c.id and j.status = 'queued'
      order by j.priority, j.position, j.id limit 1) n on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId}`);
  return row === undefined ? null : toDiagnosis(row);
}

function toDiagnosis(row: Row): Diagnosis {
  const state = stateOf(row);
  return {
    state,
    since: sinceOf(row, state),
    schedulingStatus: row.scheduling_status,
    stopped: row.stopped,
    queued: row.queued,
    nextCheckAt: row.next_check_at,
    failedClaims: row.failed_claims,
    abandoned: row.abandoned,
    lastFailure: row.last_failure,
    role: row.role,
    definition: row.definition,
    config: row.config,
    active:
      row.active_id === null
        ? null
        : {
            id: row.active_id,
            attempt: row.active_attempt,
            retryAt: row.retry_at,
            error: row.active_error,
            stopping: row.stopping,
          },
    next: row.next_id === null ? null : { id: row.next_id, attempt: row.next_attempt, createdAt: row.next_at },
    openCalls: row.open_calls ?? [],
    awaited: row.awaited ?? [],
    workers: row.workers ?? [],
    below: row.below ?? [],
    live: row.live,
    queuePosition: row.queue_position,
    now: row.now,
  };
}

/** A shown state that is not stored starts with the job or retry that causes it. */
function sinceOf(row: Row, shown: DurableState): Millis {
  if (shown === row.state) return row.since;
  return Math.max(row.since, (shown === 'ProcessingUserMessage' ? row.next_at : row.retry_at) ?? row.since);
}
