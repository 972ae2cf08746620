/**
 * Posts the input of a schedule, in the transaction of its run: to its context, or as the first input of a new worker.
 * It never answers a question that waits there. Refused like a message post, or the creation of a worker.
 */
import type { Refusal } from '../../core/errors.ts';
import type { JobId } from '../../core/ids.ts';
import type { Schedule, ScheduledWorker } from '../../core/schedules/schedule.ts';
import { limitsOf, type TenantLimits } from '../../core/access/quotas.ts';
import type { AllowedTenant } from '../../core/access/tenant.ts';
import type { WorkerRole } from '../../core/workers/settings.ts';
import type { Executor } from '../../db/connection/client.ts';
import { NORMAL, enqueueInput } from '../inputs/enqueue.ts';
import type { Accepted, FirstInput } from '../inputs/posted-input.ts';
import { cancelJob } from '../jobs/cancel-job.ts';
import { done, performWithin, type Outcome } from '../perform.ts';
import { whyFull } from '../tenants/within-quota.ts';
import type { CommandPorts } from '../ports.ts';
import { createWorker } from '../workers/create-worker.ts';

export type ScheduleRole = { kind: 'role'; role: WorkerRole | null };

export type SchedulePorts = Omit<CommandPorts, 'boundResult'> & {
  /** Queued inputs of one context. */
  queueLimit: number;
  /** Limits of tenants that have none of their own. */
  tenantLimits: TenantLimits;
  /** The role of a worker that a run creates. Refused: its role is missing, or its config names what is not allowed or not served. */
  roleOf(tenant: AllowedTenant, worker: ScheduledWorker): Promise<ScheduleRole | Refusal>;
};

export const NO_ROLE: ScheduleRole = { kind: 'role', role: null };

/** `role`: of a worker that the run creates. `limits`: those of the tenant. */
type RunOf = ScheduleRole & { limits: TenantLimits };

export async function postRun(
  tx: Executor,
  ports: SchedulePorts,
  schedule: Schedule,
  { role, limits: own }: RunOf,
): Promise<Outcome<Accepted>> {
  const { tenantId, user, target, content } = schedule;
  const input: FirstInput = {
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    priority: NORMAL,
    metadata: {},
    user,
    maxSteps: null,
    outputSchema: null,
    deadline: null,
    traceParent: null,
  };
  const adds = { queuedJobs: 1, workers: target.kind === 'context' ? 0 : 1, content: input.content };
  const full = await whyFull(tx, { tenantId, limits: limitsOf(own, ports.tenantLimits) }, adds);
  if (full !== null) return full;
  if (target.kind === 'context') {
    const { queueLimit } = ports;
    const { contextId } = target;
    return enqueueInput(tx, ports.ids, {
      ...input,
      tenantId,
      contextId,
      delivery: 'queue',
      branch: null,
      by: schedule.actor,
      queueLimit,
      full: null,
    });
  }
  const { name, config } = target.worker;
  const worker = { tenantId, user, name, title: null, role, config, parentWorkerId: null };
  const created = await performWithin(tx, createWorker(ports, worker, input));
  if (created.kind === 'refused') return created;
  const { accepted } = created.value;
  if (accepted === null) throw new Error('A worker was created without its input.');
  return { ...created, value: accepted };
}

/** The same, in place of the job of the last run. */
export async function replaceRun(
  tx: Executor,
  ports: SchedulePorts,
  schedule: Schedule & { lastJobId: JobId },
  run: RunOf,
): Promise<Outcome<Accepted>> {
  const { tenantId, lastJobId: jobId } = schedule;
  const reason = 'The next run of its schedule began.';
  const cancelled = await cancelJob(ports, { tenantId, jobId, reason, by: schedule.actor })(tx);
  const posted = await postRun(tx, ports, schedule, run);
  // A job that is not found was deleted.
  if (posted.kind === 'refused' || cancelled.kind === 'refused') return posted;
  return done(posted.value, ...cancelled.afterCommit, ...posted.afterCommit);
}
