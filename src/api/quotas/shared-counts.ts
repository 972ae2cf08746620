/** Counts of what tenants have. Requests of a tenant that ask at the same time share a query. */
import type { Counted } from '../../core/access/quotas.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Counts } from '../../db/read/installation/usage.ts';

export type SharedCounts = {
  count(id: TenantId, upTo: Counted): Promise<Counts>;
  /** Calls `then` when the counts of the tenant that are under way have been used; at once if there are none. */
  afterThose(id: TenantId, then: () => void): void;
};

export function createSharedCounts(read: (id: TenantId, upTo: Counted) => Promise<Counts>): SharedCounts {
  const underWay = new Map<string, { id: TenantId; usage: Promise<Counts> }>();
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
