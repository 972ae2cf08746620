/**
 * Commands that add jobs or workers to a tenant with a limit for them. The transaction locks the tenant's row before any
 * other row but that of a schedule, and then counts, so that commands at the same time exceed no limit together. For a
 * tenant without these limits the command stays as it is.
 */
import { overQuota, type Addition, type TenantLimits, type Usage } from '../../core/access/quotas.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { lockUsage, readUsage, type Counted } from '../../db/write/tenants/usage.ts';
import { performWithin, type AnyCommand, type Outcome } from '../perform.ts';

export type LimitedTenant = { tenantId: TenantId; limits: TenantLimits };

/** Nearly no tenant has more: then everything is counted. */
const ALL = 1_000_000_000;

/**
 * `adds`: what the command adds at most. It may add less: an input can join a running job, or answer a question. So at
 * the limit it is carried out, and refused with `quota_exceeded` only if there is more than before.
 */
export function withinQuota<T>(
  { tenantId, limits }: LimitedTenant,
  adds: Partial<Addition>,
  command: AnyCommand<T>,
): AnyCommand<T> {
  const added = { queuedJobs: 0, workers: 0, ...adds };
  const upTo = countedFor(limits, added);
  if (upTo === null) return command;
  return async (tx) => {
    const [, usage] = await Promise.all([lockUsage(tx, tenantId), readUsage(tx, tenantId, upTo)]);
    if (overQuota(limits, usage, added) === null) return performWithin(tx, command);
    return atTheLimit(tx, { tenantId, limits }, upTo, command);
  };
}

async function atTheLimit<T>(
  tx: Executor,
  { tenantId, limits }: LimitedTenant,
  upTo: Counted,
  command: AnyCommand<T>,
): Promise<Outcome<T>> {
  const count = (): Promise<Usage> =>
    readUsage(tx, tenantId, { queuedJobs: upTo.queuedJobs && ALL, workers: upTo.workers && ALL });
  const before = await count();
  const outcome = await performWithin(tx, command);
  if (outcome.kind === 'refused') return outcome;
  const after = await count();
  const isMore = {
    queuedJobs: Math.max(0, after.queuedJobs - before.queuedJobs),
    workers: Math.max(0, after.workers - before.workers),
  };
  return overQuota(limits, before, isMore) ?? outcome;
}

/** How far to count what is limited; null: nothing that the command adds is. */
export function countedFor({ queued_jobs: jobs, workers }: TenantLimits, adds: Addition): Counted | null {
  const queuedJobs = jobs === undefined || adds.queuedJobs === 0 ? null : jobs;
  const ofWorkers = workers === undefined || adds.workers === 0 ? null : workers;
  return queuedJobs === null && ofWorkers === null ? null : { queuedJobs, workers: ofWorkers };
}
