/**
 * A call creates a worker below its own, with its first job (`context.spawn` of a tool). The caller has checked the role, the
 * tools and the model of the child.
 *
 * - Checked: the call goes on; the limits of the tree and of the tenant. The job of the call is locked first, so calls of one
 *   job count what the others have created.
 * - Written: worker, context, branch, input and job, by one statement, and the step of the call.
 * - After the commit: a wake-up.
 * - Receipt: the result of the step, also of one that an earlier execution stored.
 */
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import { limitsOf, type TenantLimits } from '../../core/access/quotas.ts';
import { refuse } from '../../core/errors.ts';
import type { ContextId, WorkerId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { childName, type AskedWorker } from '../../core/tools/starts.ts';
import type { WorkerConfig, WorkerRole } from '../../core/workers/settings.ts';
import { overLimit, type TreeLimits } from '../../core/workers/worker-limits.ts';
import { readParent } from '../../db/run/team.ts';
import { createWorker } from '../../db/write/workers/create.ts';
import { depthOf } from '../../db/write/workers/workers.ts';
import { jobOfInput, queued } from '../inputs/enqueue.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { whyFull } from '../tenants/within-quota.ts';
import { holdJob, startedBefore, storeStarted, type StartingCall } from './started-step.ts';

/** `trees`: the limits for the parent. `tenantLimits`: of tenants that have none of their own. */
export type ChildOfCall = {
  parentId: WorkerId;
  role: WorkerRole | null;
  config: WorkerConfig;
  trees: TreeLimits;
  tenantLimits: TenantLimits;
};

/** Refused: `not_found` (the parent), `worker_limit`, `quota_exceeded`, `tenant_suspended`. Throws `CallEnded`. */
export function spawnFromCall(
  { ids }: Pick<CommandPorts, 'ids'>,
  call: StartingCall,
  { parentId, role, config, trees, tenantLimits }: ChildOfCall,
  { input, name, metadata, detached, role: roleName }: AskedWorker,
): Command<Json> {
  return async (tx) => {
    const { tenantId } = call;
    // The parent is not deleted meanwhile. Held before the job, in the order of a deletion.
    const depth = await depthOf(tx, tenantId, parentId);
    const { user, priority, hops, deadline } = await holdJob(tx, call);
    const before = await startedBefore(tx, call);
    if (before !== null) return done(before.value);
    const countsTenant = trees.tenantWorkers !== null;
    const parent = await readParent(tx, tenantId, parentId, { jobId: call.jobId, countsTenant });
    if (depth === null || parent === null) return refuse('not_found', 'This worker is being deleted.');
    const over = overLimit(parent.counts, trees.limits, trees.tenantWorkers);
    if (over !== null) return refuse('worker_limit', `No worker was created. ${over}`);
    const limits = limitsOf(parent.tenantLimits, tenantLimits);
    const full = await whyFull(tx, { tenantId, limits }, { workers: 1, queuedJobs: 1 });
    if (full !== null) return full;
    const workerId = ids.next<WorkerId>();
    const contextId = ids.next<ContextId>();
    const job = jobOfInput(ids, {
      content: [{ type: 'text', text: input }],
      priority: Math.max(1, priority),
      metadata,
      user: null,
      maxSteps: null,
      outputSchema: null,
      deadline,
      traceParent: call.traceParent,
    });
    const child = {
      id: workerId,
      tenantId,
      contextId,
      user: parent.user,
      name: childName({ name, role: roleName }),
      title: null,
      role,
      config,
      parentWorkerId: parentId,
      depth: depth + 1,
      detached,
    };
    const asker = {
      workerId: parentId,
      hops: hops + 1,
      parentJobId: call.jobId,
      user,
      toolCallId: null,
      notifyParent: false,
      noticeOfJobId: null,
    };
    const created = await createWorker(tx, child, job, asker);
    if (created === null) return TENANT_INACTIVE;
    const started = { worker_id: workerId, context_id: contextId, job_id: job.jobId };
    await storeStarted(tx, call, started);
    return done<Json>(started, ...queued(contextId, job, created.context).afterCommit);
  };
}
