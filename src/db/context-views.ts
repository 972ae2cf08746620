/** Contexts as clients read them. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { JobError } from '../core/errors.ts';
import type { HeldBack } from '../core/gate.ts';
import type { ContextId, JobId, TenantId, WorkerId } from '../core/ids.ts';
import type { Role, WorkerConfig } from '../core/settings.ts';
import { shownState } from '../core/state.ts';
import type { DurableState } from '../core/state.ts';
import type { Millis } from '../core/time.ts';
import type { Usage } from '../core/usage.ts';
import type { Executor } from './client.ts';
import { millis } from './instant.ts';
import { isDead, isUnowned } from './processes.ts';
import type { LeaseTimes } from './processes.ts';

/** What decides whether a context takes an input; null: this tenant has no such context. */
export async function admission(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<{ stopped: boolean; queued: number } | null> {
  const [row] = await executor.execute<{ stopped: boolean; queued: number }>(
    sql`select stopped, queued + steers as queued from contexts where tenant_id = ${tenantId} and id = ${contextId}`,
  );
  return row ?? null;
}

/** Who may run it, and when: the scheduling side of a context. */
export type ContextStatus = 'idle' | 'runnable' | 'running' | 'waiting';

export type ContextView = {
  id: ContextId;
  workerId: WorkerId;
  title: string | null;
  config: WorkerConfig;
  /** As it is shown. */
  state: DurableState;
  activeBranch: string;
  branches: string[];
  messageCount: number;
  turnCount: number;
  requestCount: number;
  usage: Usage;
  createdAt: Millis;
  /** Of its settings or its state, whichever changed last. */
  updatedAt: Millis;
  /** Of the settings: the worker's. */
  version: number;
};

type Row = {
  id: ContextId;
  worker_id: WorkerId;
  title: string | null;
  config: WorkerConfig;
  status: ContextStatus;
  state: DurableState;
  queued: number;
  retried: boolean;
  active_branch: string;
  branches: string[];
  message_count: number;
  turn_count: number;
  request_count: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  created_at: Millis;
  updated_at: Millis;
  version: number;
};

/** A model call that failed is being made again: its time has come and somebody runs the context. */
const retried: SQL = sql`c.state = 'TransientFailure' and c.status = 'running' and not exists (
  select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting')
    and j.retry_at > clock_timestamp())`;

const contextsWithWorker: SQL = sql`select c.id, w.id as worker_id, w.title, w.config, c.status, c.state, c.queued,
  ${retried} as retried, c.active_branch,
  (select jsonb_agg(b.name order by b.created_at, b.name) from branches b where b.context_id = c.id) as branches,
  c.message_count, c.turn_count, c.request_count, c.input_tokens, c.output_tokens, c.cache_read_tokens,
  c.cache_write_tokens, ${millis(sql`w.created_at`)} as created_at,
  ${millis(sql`greatest(w.updated_at, c.state_since)`)} as updated_at, w.version
  from contexts c join workers w on w.context_id = c.id`;

function toView(row: Row): ContextView {
  return {
    id: row.id,
    workerId: row.worker_id,
    title: row.title,
    config: row.config,
    state: stateOf(row),
    activeBranch: row.active_branch,
    branches: row.branches,
    messageCount: row.message_count,
    turnCount: row.turn_count,
    requestCount: row.request_count,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_read_tokens: row.cache_read_tokens,
      cache_write_tokens: row.cache_write_tokens,
    },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

function stateOf(row: Pick<Row, 'state' | 'status' | 'queued' | 'retried'>): DurableState {
  return row.retried ? 'AwaitingLLMResponse' : shownState(row.state, row.status, row.queued);
}

/** Null: this tenant has no such context. */
export async function findContext(
  executor: Executor,
  tenantId: TenantId,
  id: ContextId,
): Promise<ContextView | null> {
  const [row] = await executor.execute<Row>(
    sql`${contextsWithWorker} where c.tenant_id = ${tenantId} and c.id = ${id}`,
  );
  return row === undefined ? null : toView(row);
}

/** Newest first, those made before `before`. At most `limit`. */
export async function listContexts(
  executor: Executor,
  tenantId: TenantId,
  before: ContextId | null,
  limit: number,
): Promise<ContextView[]> {
  const older = before === null ? sql`` : sql`and c.id < ${before}`;
  const rows = await executor.execute<Row>(
    sql`${contextsWithWorker} where c.tenant_id = ${tenantId} ${older} order by c.id desc limit ${limit}`,
  );
  return rows.map(toView);
}

/** All that answers the question why a context is not further. */
export type Situation = {
  /** As it is shown. */
  state: DurableState;
  since: Millis;
  status: ContextStatus;
  stopped: boolean;
  queued: number;
  /** When a sweep looks; null while nothing is due. */
  sweepAt: Millis | null;
  /** Processes in a row that died on it without bringing it forward. */
  barrenClaims: number;
  /** It is running, but whoever ran it is dead. */
  abandoned: boolean;
  lastFailure: JobError | null;
  role: string | null;
  /** Of a role of the API. */
  definition: Role | null;
  config: WorkerConfig;
  /** The admitted job. */
  active: {
    id: JobId;
    attempt: number;
    retryAt: Millis | null;
    error: JobError | HeldBack | null;
    stopping: boolean;
  } | null;
  /** The first of the queue. */
  next: { id: JobId; attempt: number; createdAt: Millis } | null;
  /** Names of the calls without a result. */
  openCalls: string[];
  /** Whether any worker process lives. */
  live: boolean;
  /** While it waits for a process: how many are due before it, of whatever tenant, and itself. */
  queuePosition: number | null;
  now: Millis;
};

/** Null: this tenant has no such context. */
export async function findSituation(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  times: LeaseTimes,
): Promise<Situation | null> {
  const [row] = await executor.execute<{
    status: ContextStatus;
    state: DurableState;
    since: Millis;
    stopped: boolean;
    queued: number;
    retried: boolean;
    sweep_at: Millis | null;
    barren_claims: number;
    abandoned: boolean;
    last_failure: JobError | null;
    role: string | null;
    definition: Role | null;
    config: WorkerConfig;
    active_id: JobId | null;
    active_attempt: number;
    retry_at: Millis | null;
    active_error: JobError | HeldBack | null;
    stopping: boolean;
    next_id: JobId | null;
    next_attempt: number;
    next_at: Millis;
    open_calls: string[] | null;
    live: boolean;
    queue_position: number | null;
    now: Millis;
  }>(sql`
    select c.status, c.state, ${millis(sql`c.state_since`)} as since, c.stopped, c.queued, ${retried} as retried,
      ${millis(sql`c.sweep_at`)} as sweep_at, c.barren_claims, c.status = 'running' and ${isUnowned(times)} as abandoned,
      c.last_failure, w.role, r.definition, w.config, a.id as active_id, a.attempt as active_attempt,
      ${millis(sql`a.retry_at`)} as retry_at, a.error as active_error, a.stop_kind is not null as stopping,
      n.id as next_id, n.attempt as next_attempt, ${millis(sql`n.created_at`)} as next_at,
      (select jsonb_agg(t.name order by t.ordinal) from tool_calls t
        where t.context_id = c.id and t.status in ('pending', 'started')) as open_calls,
      exists (select 1 from processes p where not ${isDead(times)}) as live,
      case when c.status = 'runnable' then (
        select count(*)::int from contexts o
        where o.sweep_at is not null and o.status = 'runnable' and (o.sweep_at, o.id) <= (c.sweep_at, c.id)
      ) end as queue_position,
      ${millis(sql`clock_timestamp()`)} as now
    from contexts c join workers w on w.context_id = c.id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join jobs a on a.context_id = c.id and a.status in ('running', 'waiting')
    left join lateral (
      select j.id, j.attempt, j.created_at from jobs j where j.context_id = c.id and j.status = 'queued'
      order by j.priority, j.position, j.id limit 1) n on true
    where c.tenant_id = ${tenantId} and c.id = ${contextId}`);
  if (row === undefined) return null;
  const state = stateOf(row);
  return {
    state,
    since: sinceOf(row, state),
    status: row.status,
    stopped: row.stopped,
    queued: row.queued,
    sweepAt: row.sweep_at,
    barrenClaims: row.barren_claims,
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
    next:
      row.next_id === null ? null : { id: row.next_id, attempt: row.next_attempt, createdAt: row.next_at },
    openCalls: row.open_calls ?? [],
    live: row.live,
    queuePosition: row.queue_position,
    now: row.now,
  };
}

/** A shown state that is not stored began with what makes it shown. */
function sinceOf(
  row: { since: Millis; state: DurableState; next_at: Millis | null; retry_at: Millis | null },
  shown: DurableState,
): Millis {
  if (shown === row.state) return row.since;
  return Math.max(row.since, (shown === 'ProcessingUserMessage' ? row.next_at : row.retry_at) ?? row.since);
}
