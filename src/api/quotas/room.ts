/**
 * Room for more jobs, workers and content of tenants with limits. What they have is counted when a request asks. What
 * this process has admitted and not done yet counts too, so only several processes can exceed a limit together, by what
 * they admit at the same moment, or since they measured what is stored. Nothing is locked.
 */
import { additionOf, type Adds, type LimitedTenant } from '../../commands/tenants/within-quota.ts';
import { countedFor, overQuota, type Addition, type Counted, type Usage } from '../../core/access/quotas.ts';
import type { Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Database } from '../../db/connection/client.ts';
import { readUsage } from '../../db/read/installation/usage.ts';
import { createSharedCounts } from './shared-counts.ts';
import { createStoredBytes } from './stored-bytes.ts';
import { createTally } from './tally.ts';
import { createUnderWay } from './under-way.ts';

/** What a job that is queued without a message adds. */
export const ONE_JOB = { queuedJobs: 1, content: 'unknown' } as const satisfies Adds;

/** How long a request waits until what may have been counted twice is counted again, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/** Stored bytes are measured apart from what is counted, and less often. */
const ONLY_BYTES = { queuedJobs: null, workers: null, storedBytes: Infinity };

export type Rooms = {
  /** Does the work. `full`: why the tenant may not add so much; null: it may, and that much counts until the work ends. */
  admit<Result>(tenant: LimitedTenant, adds: Adds, work: (full: Refusal | null) => Promise<Result>): Promise<Result>;
};

export function openRooms({ everywhere: { db } }: Pick<Database, 'everywhere'>): Rooms {
  const counts = createSharedCounts((id, upTo) => readUsage(db, id, upTo));
  const bytes = createStoredBytes(
    async (id) => (await readUsage(db, id, ONLY_BYTES)).storedBytes,
    () => performance.now(),
  );
  const underWay = createUnderWay();
  const admitted = { queuedJobs: createTally<TenantId>(), workers: createTally<TenantId>() };

  async function count(id: TenantId, upTo: Counted): Promise<Usage> {
    if (upTo.storedBytes !== null) await bytes.refresh(id);
    const isCounted = upTo.queuedJobs !== null || upTo.workers !== null;
    const usage = isCounted ? await counts.count(id, { ...upTo, storedBytes: null }) : NONE;
    return { ...usage, storedBytes: bytes.measured(id) };
  }

  const withAdmitted = ({ queuedJobs, workers, storedBytes }: Usage, id: TenantId): Usage => ({
    queuedJobs: queuedJobs + admitted.queuedJobs.of(id),
    workers: workers + admitted.workers.of(id),
    storedBytes: storedBytes + bytes.admitted(id),
  });

  function begin(id: TenantId, { queuedJobs = 0, workers = 0, storedBytes = 0 }: Addition): (() => void)[] {
    return [
      ...(queuedJobs > 0 ? [admitted.queuedJobs.begin(id)] : []),
      ...(workers > 0 ? [admitted.workers.begin(id)] : []),
      ...(storedBytes > 0 ? [bytes.begin(id, storedBytes)] : []),
    ];
  }

  return {
    async admit({ tenantId, limits }, adds, work) {
      const added = additionOf(limits, adds);
      const upTo = countedFor(limits, added);
      if (upTo === null) return work(null);
      const until = performance.now() + LONGEST_WAIT_MS;
      let full: Refusal | null = null;
      for (;;) {
        const stored = await count(tenantId, upTo);
        full = overQuota(limits, withAdmitted(stored, tenantId), added);
        const leftMs = until - performance.now();
        // Otherwise it is full with what was admitted, which may have been counted already.
        if (full === null || overQuota(limits, stored, added) !== null || leftMs <= 0) break;
        const newerInMs = upTo.storedBytes === null ? leftMs : bytes.nextInMs(tenantId);
        await underWay.nextEnd(tenantId, Math.min(leftMs, newerInMs));
      }
      // Nothing waits between the count and what follows from it.
      if (full !== null) return work(full);
      const begun = begin(tenantId, added);
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

const NONE: Usage = { queuedJobs: 0, workers: 0, storedBytes: 0 };
