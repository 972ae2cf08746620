/**
 * Creates a worker with its context and its first branch, and with the first input and its job if there is one. One
 * statement, which takes the workers of many requests under load. A context with an input is due for a sweep, in case
 * its wake-up is lost.
 */
import { sql } from 'drizzle-orm';
import { beginningOf } from '../../../core/conversation/beginning.ts';
import type { ContextId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { User } from '../../../core/access/user.ts';
import type { WorkerConfig, WorkerRole } from '../../../core/workers/settings.ts';
import { shared } from '../../batches/shared.ts';
import type { Executor } from '../../connection/client.ts';
import { plainText } from '../../connection/codec.ts';
import { WAKE_UP_GRACE_MS, dueNow } from '../../connection/instant.ts';
import { prepared } from '../../connection/prepared.ts';
import { workerColumns, type WorkerView } from '../../read/contexts/worker-views.ts';
import { columns, jsonArray, recordset } from '../../rows/recordset.ts';
import { insertInto } from '../../rows/written-columns.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';
import { branches } from '../../schema/branches.ts';
import { contexts } from '../../schema/contexts.ts';
import { workers } from '../../schema/workers.ts';
import {
  NO_JOB,
  inputCte,
  jobOfNewCte,
  submittedRow,
  submittedRows,
  type Asker,
  type NewJob,
  type SubmittedRow,
  type SubmittedRows,
} from '../inputs/submission.ts';
import { roleColumns } from './workers.ts';

export type NewWorker = {
  id: WorkerId;
  tenantId: TenantId;
  contextId: ContextId;
  /** The end user whose worker it is; null: the tenant's own. */
  user: User | null;
  name: string;
  title: string | null;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId | null;
  depth: number;
  detached: boolean;
};

/**
 * `firstJob`: the job of the first input; null: the context is idle. `asker`: the worker that starts it; null: a client.
 * Null: the tenant is not active.
 */
export async function createWorker(
  executor: Executor,
  worker: NewWorker,
  firstJob: NewJob | null = null,
  asker: Asker | null = null,
): Promise<{ worker: WorkerView; context: ChangedContext } | null> {
  const { id, contextId } = worker;
  const job = firstJob === null ? NO_JOB : submittedRow({ contextId, job: firstJob, asker });
  const created = await create(executor, {
    id,
    worker: WORKERS.encode({ ...worker, firstJob, bytes: job.bytes }),
    ...job,
  });
  if (created === null) return null;
  const { headSeq, wakeSeq, epoch, runnable, ...view } = created;
  return { worker: view, context: { headSeq, wakeSeq, epoch, runnable } };
}

/** Of later inputs the search index finds it. */
function beginningOfInput(job: NewJob | null): string | null {
  const beginning = job?.input == null ? null : beginningOf(job.input.content);
  return beginning === null ? null : plainText(beginning);
}

type Row = WorkerView & ChangedContext;
/** `worker`: JSON of its row. */
type Part = SubmittedRow & { id: WorkerId; worker: string };

/** Workers in one statement at most. */
const SHARED = 64;
/** From this many characters of JSON on, a worker has its own statement. */
const LARGE = 64 * 1024;

const create = shared<Part, Row | null>({
  async run(executor, parts) {
    const rows = await executor.execute<Row>(
      statement({ workers: jsonArray(parts.map(({ worker }) => worker)), ...submittedRows(parts) }),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return parts.map(({ id }) => byId.get(id) ?? null);
  },
  most: SHARED,
  isLarge: ({ worker, input, job }) => worker.length + (input?.length ?? 0) + (job?.length ?? 0) >= LARGE,
});

const WORKERS = recordset(
  'g',
  columns<NewWorker & { firstJob: NewJob | null; bytes: number }>({
    id: ['uuid', ({ id }) => id],
    tenant_id: ['bigint', ({ tenantId }) => tenantId],
    context_id: ['uuid', ({ contextId }) => contextId],
    user_name: ['text', ({ user }) => user],
    name: ['text', ({ name }) => name],
    title: ['text', ({ title }) => title],
    first_input: ['text', ({ firstJob }) => beginningOfInput(firstJob)],
    role: ['text', ({ role }) => roleColumns(role).role],
    role_version: ['int', ({ role }) => roleColumns(role).roleVersion],
    config: ['json', ({ config }) => config],
    parent_worker_id: ['uuid', ({ parentWorkerId }) => parentWorkerId],
    depth: ['int', ({ depth }) => depth],
    detached: ['boolean', ({ detached }) => detached],
    jobs: ['int', ({ firstJob }) => (firstJob === null ? 0 : 1)],
    priority: ['int', ({ firstJob }) => firstJob?.priority ?? null],
    bytes: ['bigint', ({ bytes }) => bytes],
    // A sweep computes when.
    may_expire: ['boolean', ({ role, config }) => role !== null || config.idle_timeout_s !== undefined],
  }),
);
const givenCte = WORKERS.around(
  'given as (select * from ',
  ` where exists (select 1 from tenants t where t.id = g.tenant_id and t.status = 'active'))`,
);

const CONTEXT = insertInto(contexts, {
  id: sql`g.context_id`,
  tenantId: sql`g.tenant_id`,
  userName: sql`coalesce(g.user_name, '')`,
  wakeSeq: sql`g.jobs`,
  queued: sql`g.jobs`,
  storedBytes: sql`g.bytes`,
  priority: sql`coalesce(g.priority, 5)`,
  schedulingStatus: sql`case when g.jobs > 0 then 'runnable' else 'idle' end`,
  nextCheckAt: sql`case when g.jobs > 0
      then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' end`,
});

const WORKER = insertInto(workers, {
  id: sql`g.id`,
  tenantId: sql`g.tenant_id`,
  contextId: sql`g.context_id`,
  user: sql`g.user_name`,
  name: sql`g.name`,
  title: sql`g.title`,
  firstInput: sql`g.first_input`,
  role: sql`g.role`,
  roleVersion: sql`g.role_version`,
  config: sql`g.config`,
  parentWorkerId: sql`g.parent_worker_id`,
  // The root of the parent's tree.
  rootWorkerId: sql`(select coalesce(p.root_worker_id, p.id) from workers p where p.id = g.parent_worker_id)`,
  depth: sql`g.depth`,
  detached: sql`g.detached`,
  expiresAt: sql`case when g.may_expire then ${dueNow} end`,
});

const BRANCH = insertInto(branches, {
  contextId: sql`ctx.id`,
  tenantId: sql`ctx.tenant_id`,
  name: sql`ctx.branch`,
});

// The view takes its columns from `c` and the wake-up from `ctx`: both are the inserted row of the context.
const statement = prepared<SubmittedRows & { workers: string }>(
  (value) => sql`/* workers.create */
    with ${givenCte(value('workers'))},
    ctx as (${CONTEXT} from given g returning *, active_branch as branch),
    worker as (${WORKER} from given g returning *),
    branch as (${BRANCH} from ctx),
    ${inputCte(value('inputs'))},
    ${jobOfNewCte(value('jobs'))}
    select ${workerColumns}, ${changedContextColumns}
    from ctx join ctx c on c.id = ctx.id join worker w on w.context_id = c.id`,
);
