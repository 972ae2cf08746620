/** A worker and the workers below it, as the API returns them. One statement for the whole tree. */
import { sql } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { JobStatus } from '../../../core/run/job.ts';
import type { Millis } from '../../../core/time.ts';
import type { Usage } from '../../../core/money/usage.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { usageObject } from '../../model-calls/usage.ts';
import { workerState, type WorkerState } from './worker-views.ts';

export type TreeWorker = {
  id: WorkerId;
  name: string;
  contextId: ContextId;
  parentWorkerId: WorkerId | null;
  depth: number;
  detached: boolean;
  state: WorkerState;
  /** The unfinished job, else the last one; null: it never had a job. */
  job: TreeJob | null;
  usage: Usage;
};

type TreeJob = {
  id: JobId;
  status: JobStatus;
  startedAt: Millis | null;
  finishedAt: Millis | null;
};

/** Level by level, each in the order of creation; at most `most`. Empty: the tenant has no such worker. */
export async function workerTree(
  executor: Executor,
  tenantId: TenantId,
  id: WorkerId,
  most: number,
): Promise<TreeWorker[]> {
  return executor.execute<TreeWorker>(sql`/* workers.read_tree */
    with recursive tree as (
      select w.id, 0 as level from workers w where w.tenant_id = ${tenantId} and w.id = ${id}
      union all
      select w.id, tree.level + 1 from tree join workers w on w.parent_worker_id = tree.id where w.tenant_id = ${tenantId}
    ), found as (
      -- Without an order, the recursion stops at the limit, and returns rows level by level.
      select * from tree limit ${most}
    )
    select w.id, w.name, w.context_id as "contextId", w.parent_worker_id as "parentWorkerId", w.depth, w.detached,
      ${workerState} as state, ${usageObject('c')} as usage,
      case when j.id is not null then json_build_object('id', j.id, 'status', j.status,
        'startedAt', ${millis(sql`j.started_at`)}, 'finishedAt', ${millis(sql`j.finished_at`)}) end as job
    from found join workers w on w.id = found.id join contexts c on c.id = w.context_id
    left join lateral (
      (select 1 as place, k.id, k.status, k.started_at, k.finished_at from jobs k where k.context_id = c.id and k.status in ('running', 'waiting'))
      union all
      (select 2, k.id, k.status, k.started_at, k.finished_at from jobs k where k.context_id = c.id and k.status = 'queued'
        order by k.priority, k.position, k.id limit 1)
      union all
      (select 3, k.id, k.status, k.started_at, k.finished_at from jobs k where k.context_id = c.id order by k.id desc limit 1)
      order by place limit 1) j on true
    order by found.level, w.id`);
}
