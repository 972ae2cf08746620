/** Workers as the API returns them: identity and settings, joined with the status of their context. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobError } from '../../../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { WorkerConfig } from '../../../core/workers/settings.ts';
import type { Millis } from '../../../core/time.ts';
import type { User } from '../../../core/access/user.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { toPage, withinBytes, type OfPage, type Page, type PageRequest } from '../page.ts';
import { isVisible, type Visible } from '../reach.ts';

/**
 * `stopped`; else `working` while a process runs it or it is due; `waiting` while it waits for something outside; when
 * idle, `failed` if its last job failed, else `inactive`. A runnable worker without work (its only input was withdrawn)
 * counts as idle.
 */
export const WORKER_STATES = ['inactive', 'working', 'waiting', 'failed', 'stopped'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

/** `at`: a time in PostgreSQL's JSON format. */
type LastFailure = JobError & { job_id: string; at: string };

export type WorkerView = {
  id: WorkerId;
  name: string;
  /** The end user whose worker it is; null: the tenant's own. */
  user: User | null;
  role: string | null;
  /** The version of its API role. */
  roleVersion: number | null;
  config: WorkerConfig;
  state: WorkerState;
  lastFailure: LastFailure | null;
  contextId: ContextId;
  parentWorkerId: WorkerId | null;
  depth: number;
  createdAt: Millis;
  updatedAt: Millis;
  /** Covers name, title, role and config together. */
  version: number;
};

type WorkerFilter = Visible & {
  parentWorkerId: WorkerId | null;
  role: string | null;
  state: WorkerState | null;
  /** True: only archived workers. False: only the others. */
  archived: boolean;
};

/** The state of the worker of context `c`. */
export const workerState: SQL = sql`case when c.stopped then 'stopped' when c.scheduling_status = 'running'
  or (c.scheduling_status = 'runnable' and (c.queued > 0 or c.state not in ('Idle', 'PermanentFailure'))) then 'working'
  when c.scheduling_status = 'waiting' then 'waiting' when c.last_failure is not null then 'failed' else 'inactive' end`;

/** The view of worker `w` with its context `c`. */
export const workerColumns: SQL = sql`w.id, w.name, w.user_name as "user", w.role, w.role_version as "roleVersion", w.config,
  ${workerState} as state, c.last_failure as "lastFailure",
  w.context_id as "contextId", w.parent_worker_id as "parentWorkerId", w.depth,
  ${millis(sql`w.created_at`)} as "createdAt", ${millis(sql`w.updated_at`)} as "updatedAt", w.version`;

const workersWithContext: SQL = sql`select ${workerColumns}, octet_length(w.config::text) as bytes
  from workers w join contexts c on c.id = w.context_id`;

/** Null: the tenant has no such worker. */
export async function findWorker(executor: Executor, tenantId: TenantId, id: WorkerId): Promise<WorkerView | null> {
  const [row] = await executor.execute<WorkerView>(
    sql`${workersWithContext} where w.tenant_id = ${tenantId} and w.id = ${id}`,
  );
  return row ?? null;
}

/** Newest first, within the page's byte limit. */
export async function listWorkers(
  executor: Executor,
  tenantId: TenantId,
  filter: WorkerFilter,
  { after, limit }: PageRequest<WorkerId | null>,
): Promise<Page<WorkerView>> {
  const conditions = [
    sql`w.tenant_id = ${tenantId}`,
    filter.archived ? sql`w.archived_at is not null` : sql`w.archived_at is null`,
    ...isVisible(filter),
    ...(filter.parentWorkerId === null ? [] : [sql`w.parent_worker_id = ${filter.parentWorkerId}`]),
    ...(filter.role === null ? [] : [sql`w.role = ${filter.role}`]),
    ...(filter.state === null ? [] : [sql`${workerState} = ${filter.state}`]),
    ...(after === null ? [] : [sql`w.id < ${after}`]),
  ];
  const page = sql`${workersWithContext} where ${sql.join(conditions, sql` and `)} order by w.id desc limit ${limit}`;
  return toPage(await executor.execute<OfPage & WorkerView>(withinBytes(page, sql`p.id desc`)), (row) => row);
}

/** The worker that owns a context; null: the tenant has no such context. */
export async function workerOf(executor: Executor, tenantId: TenantId, contextId: ContextId): Promise<WorkerId | null> {
  const [row] = await executor.execute<{ id: WorkerId }>(
    sql`select id from workers where tenant_id = ${tenantId} and context_id = ${contextId}`,
  );
  return row?.id ?? null;
}
