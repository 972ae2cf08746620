/**
 * Creates a worker with its context and its first branch, and with the first input and its job if there is one. One
 * statement: it stores everything or nothing. A context with an input is due for a sweep, in case its wake-up is lost.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { WorkerConfig, WorkerRole } from '../../../core/workers/settings.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { WAKE_UP_GRACE_MS, dueNow } from '../../connection/instant.ts';
import { workerColumns, type WorkerView } from '../../read/contexts/worker-views.ts';
import { insertInto } from '../../rows/written-columns.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';
import { branches } from '../../schema/branches.ts';
import { contexts } from '../../schema/contexts.ts';
import { workers } from '../../schema/workers.ts';
import { inputsOf, jobsOfNew, type NewJob } from '../inputs/submission.ts';
import { roleColumns } from './workers.ts';

export type NewWorker = {
  id: WorkerId;
  tenantId: TenantId;
  contextId: ContextId;
  name: string;
  title: string | null;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId | null;
  depth: number;
};

/** `firstJob`: the job of the first input; null: the context is idle. */
export async function createWorker(
  executor: Executor,
  worker: NewWorker,
  firstJob: NewJob | null = null,
): Promise<{ worker: WorkerView; context: ChangedContext }> {
  const given = firstJob === null ? [] : [{ job: firstJob, asker: null }];
  // The view takes its columns from `c` and the wake-up from `ctx`: both are the inserted row of the context.
  const [row] = await executor.execute<WorkerView & ChangedContext>(sql`/* workers.create */
    with ctx as (${contextOf(worker, given.length)} returning *, active_branch as branch),
    worker as (${workerOf(worker)} from ctx returning *),
    branch as (${BRANCH} from ctx),
    ${inputsOf(given)},
    ${jobsOfNew(given)}
    select ${workerColumns}, ${changedContextColumns}
    from ctx join ctx c on c.id = ctx.id join worker w on w.context_id = c.id`);
  if (row === undefined) throw new Error(`The worker ${worker.id} was not stored.`);
  const { headSeq, wakeSeq, epoch, runnable, ...view } = row;
  return { worker: view, context: { headSeq, wakeSeq, epoch, runnable } };
}

function contextOf({ contextId, tenantId }: NewWorker, jobs: number): SQL {
  const hasJob = sql`${jobs}::int > 0`;
  return insertInto(contexts, {
    id: sql`${contextId}::uuid`,
    tenantId: sql`${tenantId}::bigint`,
    wakeSeq: sql`${jobs}::int`,
    queued: sql`${jobs}::int`,
    schedulingStatus: sql`case when ${hasJob} then 'runnable' else 'idle' end`,
    nextCheckAt: sql`case when ${hasJob}
      then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' end`,
  });
}

function workerOf({ id, name, title, role, config, parentWorkerId, depth }: NewWorker): SQL {
  const { role: roleName, roleVersion } = roleColumns(role);
  const mayExpire = role !== null || config.idle_timeout_s !== undefined;
  return insertInto(workers, {
    id: sql`${id}::uuid`,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    name: sql`${name}::text`,
    title: sql`${title}::text`,
    role: sql`${roleName}::text`,
    roleVersion: sql`${roleVersion}::int`,
    config: sql`${encodeJson(config)}::json`,
    parentWorkerId: sql`${parentWorkerId}::uuid`,
    // The root of the parent's tree.
    rootWorkerId: sql`(select coalesce(p.root_worker_id, p.id) from workers p where p.id = ${parentWorkerId}::uuid)`,
    depth: sql`${depth}::int`,
    // A sweep computes when it expires.
    expiresAt: sql`case when ${mayExpire}::boolean then ${dueNow} end`,
  });
}

const BRANCH = insertInto(branches, {
  contextId: sql`ctx.id`,
  tenantId: sql`ctx.tenant_id`,
  name: sql`ctx.branch`,
});
