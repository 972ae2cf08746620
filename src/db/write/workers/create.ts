/**
 * Creates a worker with its context and its first branch, and with the first input and its job if there is one. One
 * statement: it stores everything or nothing. A context with an input is due for a sweep, in case its wake-up is lost.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { WorkerConfig, WorkerRole } from '../../../core/workers/settings.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { WAKE_UP_GRACE_MS, dueNow } from '../../connection/instant.ts';
import { prepared } from '../../connection/prepared.ts';
import { workerColumns, type WorkerView } from '../../read/contexts/worker-views.ts';
import { insertInto } from '../../rows/written-columns.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';
import { branches } from '../../schema/branches.ts';
import { contexts } from '../../schema/contexts.ts';
import { workers } from '../../schema/workers.ts';
import { inputCte, jobOfNewCte, submittedRows, type NewJob, type SubmittedRows } from '../inputs/submission.ts';
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
  const [row] = await executor.execute<WorkerView & ChangedContext>(
    statement({ ...valuesOf(worker), jobCount: given.length, ...submittedRows(given) }),
  );
  if (row === undefined) throw new Error(`The worker ${worker.id} was not stored.`);
  const { headSeq, wakeSeq, epoch, runnable, ...view } = row;
  return { worker: view, context: { headSeq, wakeSeq, epoch, runnable } };
}

/** `config`: JSON. `mayExpire`: a sweep computes when. */
type WorkerValues = Omit<NewWorker, 'role' | 'config'> & {
  role: string | null;
  roleVersion: number | null;
  config: string;
  mayExpire: boolean;
};

function valuesOf({ role, config, ...worker }: NewWorker): WorkerValues {
  const mayExpire = role !== null || config.idle_timeout_s !== undefined;
  return { ...worker, ...roleColumns(role), config: encodeJson(config), mayExpire };
}

type Values = WorkerValues & SubmittedRows & { jobCount: number };
type Value = (name: keyof Values) => Placeholder;

// The view takes its columns from `c` and the wake-up from `ctx`: both are the inserted row of the context.
const statement = prepared<Values>(
  (value) => sql`/* workers.create */
    with ctx as (${contextOf(value)} returning *, active_branch as branch),
    worker as (${workerOf(value)} from ctx returning *),
    branch as (${BRANCH} from ctx),
    ${inputCte(value('inputs'))},
    ${jobOfNewCte(value('jobs'))}
    select ${workerColumns}, ${changedContextColumns}
    from ctx join ctx c on c.id = ctx.id join worker w on w.context_id = c.id`,
);

function contextOf(value: Value): SQL {
  const jobs = sql`${value('jobCount')}::int`;
  return insertInto(contexts, {
    id: sql`${value('contextId')}::uuid`,
    tenantId: sql`${value('tenantId')}::bigint`,
    wakeSeq: jobs,
    queued: jobs,
    schedulingStatus: sql`case when ${jobs} > 0 then 'runnable' else 'idle' end`,
    nextCheckAt: sql`case when ${jobs} > 0
      then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' end`,
  });
}

function workerOf(value: Value): SQL {
  const parent = sql`${value('parentWorkerId')}::uuid`;
  return insertInto(workers, {
    id: sql`${value('id')}::uuid`,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    name: sql`${value('name')}::text`,
    title: sql`${value('title')}::text`,
    role: sql`${value('role')}::text`,
    roleVersion: sql`${value('roleVersion')}::int`,
    config: sql`${value('config')}::json`,
    parentWorkerId: parent,
    // The root of the parent's tree.
    rootWorkerId: sql`(select coalesce(p.root_worker_id, p.id) from workers p where p.id = ${parent})`,
    depth: sql`${value('depth')}::int`,
    expiresAt: sql`case when ${value('mayExpire')}::boolean then ${dueNow} end`,
  });
}

const BRANCH = insertInto(branches, {
  contextId: sql`ctx.id`,
  tenantId: sql`ctx.tenant_id`,
  name: sql`ctx.branch`,
});
