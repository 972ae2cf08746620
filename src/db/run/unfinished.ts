/** Unfinished jobs without a stop request that match a filter. Used to cancel jobs by filter. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, WorkerId } from '../../core/ids.ts';
import type { JobKind, UNFINISHED_STATUSES } from '../../core/run/job.ts';
import type { JsonObject } from '../../core/json.ts';
import { WHOLE_TENANT, type Reach } from '../../core/access/reach.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { isWithin } from '../read/reach.ts';

type UnfinishedStatus = (typeof UNFINISHED_STATUSES)[number];

/** Null members do not filter. */
export type UnfinishedFilter = {
  reach: Reach;
  /** On whose behalf the job runs. */
  user: User | null;
  contextId: ContextId | null;
  /** Includes the attached workers below it. */
  workerId: WorkerId | null;
  role: string | null;
  status: UnfinishedStatus | null;
  kind: JobKind | null;
  /** Must be contained in the job's metadata. */
  metadata: JsonObject | null;
};

/** All of the tenant. */
export const ALL_UNFINISHED: UnfinishedFilter = {
  reach: WHOLE_TENANT,
  user: null,
  contextId: null,
  workerId: null,
  role: null,
  status: null,
  kind: null,
  metadata: null,
};

/** Contexts with such jobs after the id `after`, in order, at most `limit`. */
export async function contextsWithUnfinished(
  executor: Executor,
  tenantId: TenantId,
  filter: UnfinishedFilter,
  { after, limit }: { after: ContextId | null; limit: number },
): Promise<ContextId[]> {
  const { contextId, workerId, role, reach } = filter;
  const ofWorker = [...isWithin(reach), ...(role === null ? [] : [sql`w.role = ${role}`])];
  const conditions = [
    ...ofJob(tenantId, filter),
    ...(contextId === null ? [] : [sql`j.context_id = ${contextId}`]),
    ...(ofWorker.length === 0
      ? []
      : [sql`exists (select 1 from workers w where w.id = j.worker_id and ${sql.join(ofWorker, sql` and `)})`]),
    ...(workerId === null ? [] : [sql`j.worker_id in (${treeBelow(tenantId, workerId)})`]),
    ...(after === null ? [] : [sql`j.context_id > ${after}`]),
  ];
  const rows = await executor.execute<{ context_id: ContextId }>(sql`
    select distinct j.context_id from ${unfinished} where ${sql.join(conditions, sql` and `)}
    order by j.context_id limit ${limit}`);
  return rows.map((row) => row.context_id);
}

/** Such jobs of one context. The caller has locked its row. */
export async function unfinishedOf(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  filter: UnfinishedFilter,
): Promise<JobId[]> {
  const conditions = [sql`j.context_id = ${contextId}`, ...ofJob(tenantId, filter)];
  const rows = await tx.execute<{ id: JobId }>(
    sql`select j.id from ${unfinished} where ${sql.join(conditions, sql` and `)} order by j.position, j.id`,
  );
  return rows.map((row) => row.id);
}

/** In parts, so that the partial indexes of delayed, queued and active jobs can be used, however many have ended. */
const unfinished = sql`(
  select * from jobs where status = 'delayed' union all select * from jobs where status = 'queued'
  union all select * from jobs where status in ('running', 'waiting')) j`;

function ofJob(tenantId: TenantId, { status, kind, metadata, user }: UnfinishedFilter): SQL[] {
  return [
    sql`j.tenant_id = ${tenantId} and j.stop_kind is null`,
    ...(status === null ? [] : [sql`j.status = ${status}`]),
    ...(user === null ? [] : [sql`j.user_name = ${user}`]),
    ...(kind === null ? [] : [sql`j.kind = ${kind}`]),
    ...(metadata === null ? [] : [sql`j.metadata @> ${encodeJson(metadata)}::jsonb`]),
  ];
}

function treeBelow(tenantId: TenantId, workerId: WorkerId): SQL {
  return sql`
    with recursive tree as (
      select id from workers where tenant_id = ${tenantId} and id = ${workerId}
      union all
      select w.id from workers w join tree on w.parent_worker_id = tree.id where w.tenant_id = ${tenantId} and not w.detached
    )
    select id from tree`;
}
