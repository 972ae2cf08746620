/**
 * Limits of a tenant on its jobs and workers. They are counted before the command, without any lock: commands at the same
 * moment may exceed a limit by what they add, and none waits for another one. For a tenant without such limits nothing is
 * counted.
 */
import { countedFor, overQuota, type Addition, type TenantLimits } from '../../core/access/quotas.ts';
import type { Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { readUsage } from '../../db/read/installation/usage.ts';
import type { AnyCommand } from '../perform.ts';

export type LimitedTenant = { tenantId: TenantId; limits: TenantLimits };

/** Why the tenant may not add so many; null: it may. */
export async function whyFull(
  executor: Executor,
  { tenantId, limits }: LimitedTenant,
  adds: Partial<Addition>,
): Promise<Refusal | null> {
  const added = { queuedJobs: 0, workers: 0, ...adds };
  const upTo = countedFor(limits, added);
  return upTo === null ? null : overQuota(limits, await readUsage(executor, tenantId, upTo), added);
}

/** For a command that always adds: refused with `full`, in its place, so that a request that is repeated gets its answer. */
export function unlessFull<T>(full: Refusal | null, command: AnyCommand<T>): AnyCommand<T> {
  return full === null ? command : { statement: async () => full };
}
