/**
 * Limits of a tenant on its jobs, workers and content. They are counted before the command, without any lock: commands at
 * the same moment may exceed a limit by what they add, and none waits for another one. For a tenant without such limits
 * nothing is counted.
 */
import { countedFor, overQuota, type Addition, type TenantLimits } from '../../core/access/quotas.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { readStoredBytes, readUsage } from '../../db/read/installation/usage.ts';
import { EncodedJson } from '../../db/rows/encoded-json.ts';
import type { AnyCommand } from '../perform.ts';

export type LimitedTenant = { tenantId: TenantId; limits: TenantLimits };

/**
 * What a command adds; what is missing, it does not add. `content`: of its message; `unknown`: it copies messages, or
 * leads to some, and their size is not known before.
 */
export type Adds = { queuedJobs?: number; workers?: number; content?: readonly InputBlock[] | 'unknown' };

/** Reserves room for the content of a request, in place of what it reserved before. Null: reserved; else why it is not. */
export type Reserve = (bytes: number) => Refusal | null;

/** Of content of unknown size. */
export const UNKNOWN_BYTES = 1;

/** Content of unknown size counts as the smallest. That of a tenant without a limit is not measured. */
export function additionOf(limits: TenantLimits, { content, ...counts }: Adds): Addition {
  if (content === undefined || limits.stored_mb === undefined) return counts;
  return { ...counts, storedBytes: content === 'unknown' ? UNKNOWN_BYTES : new EncodedJson(content).bytes };
}

/** Why the tenant may not add so many; null: it may. */
export async function whyFull(
  executor: Executor,
  { tenantId, limits }: LimitedTenant,
  adds: Adds,
): Promise<Refusal | null> {
  const added = additionOf(limits, adds);
  const upTo = countedFor(limits, added);
  if (upTo === null) return null;
  const storedBytes = upTo.storedBytes ? await readStoredBytes(executor, tenantId) : 0;
  return overQuota(limits, { ...(await readUsage(executor, tenantId, upTo)), storedBytes }, added);
}

/** For a command that always adds: refused with `full`, in its place, so that a request that is repeated gets its answer. */
export function unlessFull<T>(full: Refusal | null, command: AnyCommand<T>): AnyCommand<T> {
  return full === null ? command : { statement: async () => full };
}
