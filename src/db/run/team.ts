/** Reads the workers related to a worker: whether it may create children, which exist, and how their jobs ended. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../core/conversation/blocks.ts';
import type { TenantLimits } from '../../core/access/quotas.ts';
import type { JobError } from '../../core/errors.ts';
import type { JobId, TenantId, ToolCallId, WorkerId } from '../../core/ids.ts';
import type { JobStatus } from '../../core/run/job.ts';
import type { Role, WorkerConfig, WorkerRole } from '../../core/workers/settings.ts';
import type { WorkerCounts } from '../../core/workers/worker-limits.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { columns, recordset } from '../rows/recordset.ts';

/** A worker that creates children, and its job that requests it; `job` null: a client requests it. */
export type Parent = {
  role: WorkerRole | null;
  /** The definition of its API role. */
  definition: Role | null;
  config: WorkerConfig;
  user: User | null;
  rootWorkerId: WorkerId;
  counts: WorkerCounts;
  job: { hops: number; priority: number } | null;
  /** The tenant's own limits. */
  tenantLimits: TenantLimits;
};

/**
 * Null: the tenant has no such worker. `jobId`: the job that requests a child; null: a client does. `countsTenant`:
 * also count the tenant's busy workers, which reads all of them.
 */
export async function readParent(
  executor: Executor,
  tenantId: TenantId,
  workerId: WorkerId,
  { jobId, countsTenant }: { jobId: JobId | null; countsTenant: boolean },
): Promise<Parent | null> {
  const [row] = await executor.execute<{
    role: string | null;
    role_version: number | null;
    definition: Role | null;
    config: WorkerConfig;
    user: User | null;
    root: WorkerId;
    depth: number;
    children: number;
    in_tree: number;
    of_tenant: number;
    hops: number | null;
    priority: number | null;
    limits: TenantLimits;
  }>(sql`/* workers.read_parent */
    select w.role, w.role_version, r.definition, w.config, w.user_name as "user", w.depth, coalesce(w.root_worker_id, w.id) as root,
      (select count(*)::int from workers k where k.tenant_id = w.tenant_id and k.parent_worker_id = w.id
        and k.archived_at is null) as children,
      (select count(*)::int from workers k join contexts c on c.id = k.context_id
        where k.root_worker_id = coalesce(w.root_worker_id, w.id) and c.scheduling_status <> 'idle')
        + (select count(*)::int from workers k join contexts c on c.id = k.context_id
          where k.id = coalesce(w.root_worker_id, w.id) and c.scheduling_status <> 'idle') as in_tree,
      ${countsTenant ? AT_WORK : sql`0`} as of_tenant, j.hops, j.priority, t.limits
    from workers w join tenants t on t.id = w.tenant_id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join jobs j on j.id = ${jobId}::uuid and j.tenant_id = w.tenant_id
    where w.id = ${workerId} and w.tenant_id = ${tenantId}`);
  if (row === undefined) return null;
  const { role, role_version: version, definition, config, user, root, depth, children, hops, priority } = row;
  return {
    role: role === null ? null : { name: role, version },
    definition,
    config,
    user,
    rootWorkerId: root,
    counts: { depth, children, inTree: row.in_tree, ofTenant: row.of_tenant },
    job: hops === null || priority === null ? null : { hops, priority },
    tenantLimits: row.limits,
  };
}

/** In parts, so that the partial indexes of runnable, of due and of owned contexts can be used. */
const AT_WORK: SQL = sql`(
  (select count(*)::int from contexts c where c.scheduling_status = 'runnable' and c.tenant_id = w.tenant_id)
  + (select count(*)::int from contexts c where c.scheduling_status in ('waiting', 'running')
    and c.next_check_at is not null and c.tenant_id = w.tenant_id)
  + (select count(*)::int from contexts c where c.lease_owner is not null and c.next_check_at is null
    and c.tenant_id = w.tenant_id))`;

/** The relation of a worker to another one, and its unfinished jobs. */
export type WorkerRelation = { workerId: WorkerId; isBelow: boolean; unfinished: JobId[] };

/**
 * The workers of `workerIds` that the tenant has, with their unfinished jobs: the active one first, then in queue
 * order.
 */
export async function readRelations(
  executor: Executor,
  tenantId: TenantId,
  above: WorkerId,
  workerIds: readonly WorkerId[],
): Promise<WorkerRelation[]> {
  type Row = Omit<WorkerRelation, 'unfinished'> & { unfinished: JobId[] | null };
  const rows = await executor.execute<Row>(sql`/* workers.read_standings */
    with recursive up as (
      select w.id as asked, w.parent_worker_id from jsonb_array_elements_text(${encodeJson(workerIds)}::jsonb) i
        cross join lateral (select * from workers w where w.id = i::uuid and w.tenant_id = ${tenantId} limit 1) w
      union all
      select up.asked, p.parent_worker_id from up cross join lateral (
        select * from workers p where p.id = up.parent_worker_id and p.tenant_id = ${tenantId} limit 1) p
    )
    select a.id as "workerId", a.below as "isBelow", (
        select jsonb_agg(j.id order by j.status = 'queued', j.priority, j.position, j.id) from workers w
          cross join lateral (
            (select j.* from jobs j where j.context_id = w.context_id and j.status in ('running', 'waiting'))
            union all
            (select j.* from jobs j where j.context_id = w.context_id and j.status = 'queued')) j
        where w.id = a.id) as unfinished
    from (select up.asked as id, coalesce(bool_or(up.parent_worker_id = ${above}), false) as below from up group by up.asked) a`);
  return rows.map((row) => ({ ...row, unfinished: row.unfinished ?? [] }));
}

/** The status of a worker's job. Null members: the worker had no job, or the job was deleted. */
export type WorkerOutcome = {
  workerId: WorkerId;
  jobId: JobId | null;
  status: JobStatus | null;
  error: JobError | null;
  output: Block[] | null;
};

/** `jobId`: the job to report; null: the last job that the call waited for, else the worker's last ended job. */
type AskedWorker = { workerId: WorkerId; jobId: JobId | null };

const WANTED = recordset(
  'i',
  columns<AskedWorker & { callId: ToolCallId; place: number }>({
    call_id: ['uuid', ({ callId }) => callId],
    worker_id: ['uuid', ({ workerId }) => workerId],
    job_id: ['uuid', ({ jobId }) => jobId],
    place: ['int', ({ place }) => place],
  }),
);

/** The workers that calls report. */
export type AskedOutcomes = readonly { callId: ToolCallId; workers: readonly AskedWorker[] }[];

/** In the given order. */
export async function readOutcomes(
  executor: Executor,
  tenantId: TenantId,
  awaitedCalls: AskedOutcomes,
): Promise<Map<ToolCallId, WorkerOutcome[]>> {
  const wanted = awaitedCalls.flatMap(({ callId, workers }) =>
    workers.map((worker, place) => ({ ...worker, callId, place })),
  );
  const rows = await executor.execute<WorkerOutcome & { callId: ToolCallId }>(sql`
    select i.call_id as "callId", i.worker_id as "workerId", coalesce(j.id, a.job_id) as "jobId", j.status,
      case when j.finished_at is not null then j.error end as error, m.content as output
    from ${WANTED.table(wanted)}
    left join lateral (
      select coalesce(i.job_id, (select a.job_id from awaited_jobs a
        where a.tool_call_id = i.call_id and a.worker_id = i.worker_id order by a.ordinal desc limit 1)) as job_id) a on true
    left join lateral (
      (select * from jobs j where j.id = a.job_id and j.tenant_id = ${tenantId})
      union all
      (select j.* from workers w join jobs j on j.context_id = w.context_id
        where a.job_id is null and w.id = i.worker_id and w.tenant_id = ${tenantId} and j.finished_at is not null
        order by j.finished_at desc, j.id desc limit 1)
      limit 1) j on true
    left join messages m on m.id = j.output_message_id
    order by i.call_id, i.place`);
  const outcomes = new Map<ToolCallId, WorkerOutcome[]>(awaitedCalls.map(({ callId }) => [callId, []]));
  for (const { callId, ...outcome } of rows) outcomes.get(callId)?.push(outcome);
  return outcomes;
}

/** The worker that each call created, or first waits for. */
export async function readSpawned(
  executor: Executor,
  tenantId: TenantId,
  callIds: readonly ToolCallId[],
): Promise<Map<ToolCallId, WorkerId>> {
  const rows = await executor.execute<{ callId: ToolCallId; workerId: WorkerId }>(sql`
    select a.tool_call_id as "callId", a.worker_id as "workerId" from jsonb_array_elements_text(${encodeJson(callIds)}::jsonb) i
    join awaited_jobs a on a.tool_call_id = i::uuid and a.tenant_id = ${tenantId}`);
  return new Map(rows.map(({ callId, workerId }) => [callId, workerId]));
}
