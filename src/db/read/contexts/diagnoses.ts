/** Reads the status of a context, to explain why it makes no progress. */
import { sql } from 'drizzle-orm';
import type { UserOrNone } from '../../../core/access/user.ts';
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
import { runningContexts } from '../../processes/slots.ts';
import { retried, stateOf, type SchedulingStatus, type ShownColumns } from './shown-state.ts';

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
  /** Whether any of them begins runs: the others are paused or drain. */
  isServed: boolean;
  /** The user of its worker. */
  user: UserOrNone;
  /** Whether contexts of users of its tenant wait for a worker process. */
  areUsersWaiting: boolean;
  /** While it waits for a worker process: its position among those of its user, or those without a user, from 1. */
  queuePosition: number | null;
  /** While it waits for a worker process, and the slots of its tenant are limited: how many of them are taken. */
  slotsTaken: number | null;
  now: Millis;
};

type Row = Diagnosis & ShownColumns;

/** `areSlotsLimited`: those of the tenant. Null: the tenant has no such context. */
export async function findDiagnosis(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  { times, areSlotsLimited }: { times: LeaseTimes; areSlotsLimited: boolean },
): Promise<Diagnosis | null> {
  const [row] = await executor.execute<Row>(sql`
    select c.scheduling_status as "schedulingStatus", c.user_name as "user", c.state, ${millis(sql`c.state_since`)} as since, c.stopped, c.queued, ${retried} as retried,
      ${millis(sql`c.next_check_at`)} as "nextCheckAt", c.failed_claims as "failedClaims",
      c.scheduling_status = 'running' and ${isUnowned(times)} as abandoned,
      c.last_failure as "lastFailure", w.role, r.definition, w.config,
      case when a.id is not null then json_build_object('id', a.id, 'attempt', a.attempt,
        'retryAt', ${millis(sql`a.retry_at`)}, 'error', a.error, 'stopping', a.stop_kind is not null) end as active,
      case when n.id is not null then json_build_object('id', n.id, 'attempt', n.attempt,
        'createdAt', ${millis(sql`greatest(n.created_at, n.starts_at)`)}) end as next,
      (select coalesce(jsonb_agg(t.name order by t.ordinal), '[]') from tool_calls t
        where t.context_id = c.id and t.status in ('pending', 'started')) as "openCalls",
      (select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'since', ${millis(sql`t.asked_at`)},
          'for', coalesce(t.waits_for, 'answer'), 'until', ${millis(sql`t.expires_at`)},
          'question', (select b -> 'input' ->> 'question' from json_array_elements(m.content) b
            where b ->> 'id' = t.id::text and t.name = ${ASK_USER})) order by t.asked_at, t.ordinal), '[]')
        from tool_calls t join messages m on m.id = t.message_id
        where t.context_id = c.id and ${isAwaited} and t.waits_for is distinct from 'workers') as awaited,
      coalesce(${awaitedWorkers(sql`c.id`)}, '[]') as workers,
      coalesce(case when c.scheduling_status in ('waiting', 'running') then ${awaitedBelow(sql`c.id`)} end, '[]') as below,
      exists (select 1 from processes p where not ${isDead(times)}) as live,
      exists (select 1 from processes p where not ${isDead(times)} and p.status = 'running') as "isServed",
      case when c.scheduling_status = 'runnable' then (
        select count(*)::int from contexts o
        where o.scheduling_status = 'runnable' and o.tenant_id = c.tenant_id and o.user_name = c.user_name
          and (o.priority, o.next_check_at, o.id) <= (c.priority, c.next_check_at, c.id)
      ) end as "queuePosition",
      exists (select 1 from contexts o
        where o.scheduling_status = 'runnable' and o.tenant_id = c.tenant_id and o.user_name > '') as "areUsersWaiting",
      case when c.scheduling_status = 'runnable' and ${areSlotsLimited}::boolean
        then (select ${runningContexts} from (select c.tenant_id as id) t) end as "slotsTaken",
      ${millis(sql`clock_timestamp()`)} as now
    from contexts c join workers w on w.context_id = c.id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join jobs a on a.context_id = c.id and a.status in ('running', 'waiting')
    left join lateral (
      select j.id, j.attempt, j.created_at, j.starts_at from jobs j where j.context_id = c.id and j.status = 'queued'
      order by j.priority, j.position, j.id limit 1) n on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId}`);
  return row === undefined ? null : toDiagnosis(row);
}

function toDiagnosis({ retried, ...row }: Row): Diagnosis {
  const state = stateOf({ ...row, retried });
  return { ...row, state, since: sinceOf(row, state) };
}

/** A shown state that is not stored starts with the job or retry that causes it. */
function sinceOf({ state, since, next, active }: Diagnosis, shown: DurableState): Millis {
  if (shown === state) return since;
  return Math.max(since, (shown === 'ProcessingUserMessage' ? next?.createdAt : active?.retryAt) ?? since);
}
