/**
 * Room for more jobs and workers of tenants with limits. What they have is counted when a request asks; requests that ask
 * at the same time share a query. What this process has admitted counts too, until its request ends, so only several
 * processes can exceed a limit together, by what they admit at the same moment. Nothing is locked.
 */
import type { FastifyReply } from 'fastify';
import type { LimitedTenant } from '../../commands/tenants/within-quota.ts';
import { countedFor, overQuota, type Addition, type Counted, type Usage } from '../../core/access/quotas.ts';
import type { Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import { createBatcher } from '../../db/batches/batcher.ts';
import type { Database } from '../../db/connection/client.ts';
import { readUsages } from '../../db/write/tenants/usage.ts';
import { createTally } from './tally.ts';

export type Rooms = {
  /**
   * Why the tenant may not add so much; null: it may, and that much is reserved until the reply ends.
   */
  whyFull(tenant: LimitedTenant, reply: FastifyReply, adds: Partial<Addition>): Promise<Refusal | null>;
};

/** Tenants in one query at most. */
const SHARED = 64;

export function openRooms({ everywhere: { db } }: Pick<Database, 'everywhere'>): Rooms {
  const count = createBatcher<{ id: TenantId; upTo: Counted }, Usage>({
    shared: (parts) => readUsages(db, parts),
    alone: async (part) => {
      const [usage] = await readUsages(db, [part]);
      if (usage === undefined) throw new Error('Each tenant that is asked for has one row.');
      return usage;
    },
    most: SHARED,
  });
  const admitted = { queuedJobs: createTally<TenantId>(), workers: createTally<TenantId>() };

  return {
    async whyFull({ tenantId, limits }, reply, adds) {
      const added = { queuedJobs: 0, workers: 0, ...adds };
      const upTo = countedFor(limits, added);
      if (upTo === null) return null;
      const { queuedJobs, workers } = await count({ id: tenantId, upTo });
      const usage = {
        queuedJobs: queuedJobs + admitted.queuedJobs.of(tenantId),
        workers: workers + admitted.workers.of(tenantId),
      };
      const refusal = overQuota(limits, usage, added);
      if (refusal !== null) return refusal;
      const ends = [
        ...(added.queuedJobs > 0 ? [admitted.queuedJobs.begin(tenantId)] : []),
        ...(added.workers > 0 ? [admitted.workers.begin(tenantId)] : []),
      ];
      const end = (): void => ends.forEach((one) => one());
      if (reply.raw.destroyed || reply.sent) end();
      else reply.raw.once('close', end);
      return null;
    },
  };
}
