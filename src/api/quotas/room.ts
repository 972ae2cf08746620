/**
 * Room for more jobs and workers of tenants with limits. What they have is counted when a request asks; requests of a
 * tenant that ask at the same time share a query. What this process has admitted and not done yet counts too, so only
 * several processes can exceed a limit together, by what they admit at the same moment. Nothing is locked.
 */
import type { LimitedTenant } from '../../commands/tenants/within-quota.ts';
import { countedFor, overQuota, type Addition, type Counted, type Usage } from '../../core/access/quotas.ts';
import type { Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Database } from '../../db/connection/client.ts';
import { readUsage } from '../../db/read/installation/usage.ts';
import { createTally } from './tally.ts';

/** What a job that is queued adds. */
export const ONE_JOB = { queuedJobs: 1 } as const;

/** How long a request waits for others of its tenant that may have been counted twice, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

export type Rooms = {
  /** Does the work. `full`: why the tenant may not add so much; null: it may, and that much counts until the work ends. */
  admit<Result>(
    tenant: LimitedTenant,
    adds: Partial<Addition>,
    work: (full: Refusal | null) => Promise<Result>,
  ): Promise<Result>;
};

export function openRooms({ everywhere: { db } }: Pick<Database, 'everywhere'>): Rooms {
  const counts = createSharedCounts((id, upTo) => readUsage(db, id, upTo));
  const underWay = createUnderWay();
  const admitted = { queuedJobs: createTally<TenantId>(), workers: createTally<TenantId>() };

  const withAdmitted = ({ queuedJobs, workers }: Usage, id: TenantId): Usage => ({
    queuedJobs: queuedJobs + admitted.queuedJobs.of(id),
    workers: workers + admitted.workers.of(id),
  });

  return {
    async admit({ tenantId, limits }, adds, work) {
      const added = { queuedJobs: 0, workers: 0, ...adds };
      const upTo = countedFor(limits, added);
      if (upTo === null) return work(null);
      const until = performance.now() + LONGEST_WAIT_MS;
      let full: Refusal | null = null;
      for (;;) {
        const stored = await counts.count(tenantId, upTo);
        full = overQuota(limits, withAdmitted(stored, tenantId), added);
        const leftMs = until - performance.now();
        // Otherwise it is full with what is under way, which may have been counted already.
        if (full === null || overQuota(limits, stored, added) !== null || leftMs <= 0) break;
        await underWay.nextEnd(tenantId, leftMs);
      }
      // Nothing waits between the count and what follows from it.
      if (full !== null) return work(full);
      const begun = [
        ...(added.queuedJobs > 0 ? [admitted.queuedJobs.begin(tenantId)] : []),
        ...(added.workers > 0 ? [admitted.workers.begin(tenantId)] : []),
      ];
      try {
        return await work(null);
      } finally {
        // A count that is under way may not have seen what this work stored.
        counts.afterThose(tenantId, () => {
          for (const end of begun) end();
          underWay.ended(tenantId);
        });
      }
    },
  };
}

/** Work that was admitted. */
type UnderWay = {
  /** Resolves when some of the tenant ends, or after `ms`. */
  nextEnd(id: TenantId, ms: number): Promise<void>;
  ended(id: TenantId): void;
};

function createUnderWay(): UnderWay {
  const waiting = new Map<TenantId, Set<() => void>>();
  return {
    async nextEnd(id, ms) {
      const of = waiting.get(id) ?? new Set();
      waiting.set(id, of);
      const { promise, resolve } = Promise.withResolvers<void>();
      of.add(resolve);
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
      of.delete(resolve);
      if (of.size === 0 && waiting.get(id) === of) waiting.delete(id);
    },
    ended(id) {
      const of = waiting.get(id);
      waiting.delete(id);
      for (const resolve of of ?? []) resolve();
    },
  };
}

type SharedCounts = {
  count(id: TenantId, upTo: Counted): Promise<Usage>;
  /** Calls `then` when the counts of the tenant that are under way have been used; at once if there are none. */
  afterThose(id: TenantId, then: () => void): void;
};

function createSharedCounts(read: (id: TenantId, upTo: Counted) => Promise<Usage>): SharedCounts {
  const underWay = new Map<string, { id: TenantId; usage: Promise<Usage> }>();
  return {
    count(id, upTo) {
      const key = `${id} ${upTo.queuedJobs} ${upTo.workers}`;
      const before = underWay.get(key);
      if (before !== undefined) return before.usage;
      const usage = read(id, upTo).finally(() => underWay.delete(key));
      underWay.set(key, { id, usage });
      return usage;
    },
    afterThose(id, then) {
      const those = [...underWay.values()].filter((count) => count.id === id).map(({ usage }) => usage);
      if (those.length === 0) then();
      else void Promise.allSettled(those).then(() => setImmediate(then));
    },
  };
}
