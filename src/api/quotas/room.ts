/**
 * Room for more jobs, workers and content of tenants with limits. What they have is counted when a request asks. What
 * this process has admitted and not done yet counts too, so only several processes can exceed a limit together, by what
 * they admit at the same moment, or since they measured what is stored. Nothing is locked.
 */
import {
  UNKNOWN_BYTES,
  additionOf,
  type Adds,
  type LimitedTenant,
  type Reserve,
} from '../../commands/tenants/within-quota.ts';
import {
  countedFor,
  isOfContent,
  overQuota,
  type Addition,
  type Counted,
  type Usage,
} from '../../core/access/quotas.ts';
import type { Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Database } from '../../db/connection/client.ts';
import { readStoredBytes, readUsage, type Counts } from '../../db/read/installation/usage.ts';
import { RequestRefused } from '../response/problem.ts';
import { createSharedCounts } from './shared-counts.ts';
import { createStoredBytes } from './stored-bytes.ts';
import { createTally } from './tally.ts';
import { createUnderWay } from './under-way.ts';

/** What a job that is queued without a message adds. */
export const ONE_JOB = { queuedJobs: 1, content: 'unknown' } as const satisfies Adds;

/** How long a request waits until what may have been counted twice is counted again, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

export type Rooms = {
  /** Does the work. `full`: why the tenant may not add so much; null: it may, and that much counts until the work ends. */
  admit<Result>(
    tenant: LimitedTenant,
    adds: Adds,
    work: (full: Refusal | null, reserve: Reserve) => Promise<Result>,
  ): Promise<Result>;
};

/** `end` is called once the work has ended. */
type Decision = { full: Refusal | null; reserve: Reserve; end: (areStored: boolean) => void };

export function openRooms({ everywhere: { db } }: Pick<Database, 'everywhere'>): Rooms {
  const reads = {
    usage: (id: TenantId, upTo: Counted) => readUsage(db, id, upTo),
    storedBytes: (id: TenantId) => readStoredBytes(db, id),
  };
  return createRooms(reads, () => performance.now());
}

type Reads = {
  usage: (id: TenantId, upTo: Counted) => Promise<Counts>;
  storedBytes: (id: TenantId) => Promise<number>;
};

/** `now`: in milliseconds, and only goes forward. */
export function createRooms(reads: Reads, now: () => number): Rooms {
  const counts = createSharedCounts(reads.usage);
  const bytes = createStoredBytes(reads.storedBytes, now);
  const underWay = createUnderWay();
  const admitted = { queuedJobs: createTally<TenantId>(), workers: createTally<TenantId>() };

  const withAdmitted = ({ queuedJobs, workers, storedBytes }: Usage, id: TenantId): Usage => ({
    queuedJobs: queuedJobs + admitted.queuedJobs.of(id),
    workers: workers + admitted.workers.of(id),
    storedBytes: storedBytes + bytes.admitted(id),
  });

  /** Measures what is stored, if that may be. A slow measurement is waited for only if `added` may have no room. */
  async function measure({ tenantId: id, limits }: LimitedTenant, { storedBytes = 0 }: Addition): Promise<void> {
    const refreshed = bytes.refresh(id);
    const known = withAdmitted({ ...NONE, storedBytes: bytes.measured(id) }, id);
    const hasRoom = storedBytes !== UNKNOWN_BYTES && overQuota(limits, known, { storedBytes }) === null;
    if (!bytes.isSlow(id) || !hasRoom) return refreshed;
    // A failure is met by the request that has no room as far as is known.
    refreshed.catch(() => undefined);
  }

  /** Nothing waits between the last count and what follows from it. */
  async function decide(tenant: LimitedTenant, added: Addition, upTo: Counted): Promise<Decision> {
    const { tenantId: id, limits } = tenant;
    const until = now() + LONGEST_WAIT_MS;
    for (;;) {
      if (upTo.storedBytes) await measure(tenant, added);
      const isCounted = upTo.queuedJobs !== null || upTo.workers !== null;
      const counted = isCounted ? await counts.count(id, upTo) : NONE;
      const stored = { ...counted, storedBytes: bytes.measured(id) };
      const full = overQuota(limits, withAdmitted(stored, id), added);
      const leftMs = until - now();
      // Otherwise it is full with what was admitted, which may have been counted already.
      if (full === null) return { full, ...begin(tenant, added) };
      if (overQuota(limits, stored, added) !== null || leftMs <= 0) {
        // Content may join a job though nothing may be queued.
        return { full, ...begin(tenant, isOfContent(full) ? {} : { storedBytes: added.storedBytes ?? 0 }) };
      }
      const newerInMs = isOfContent(full) ? bytes.nextInMs(id) : leftMs;
      await underWay.nextEnd(id, Math.min(leftMs, newerInMs));
    }
  }

  /** Counts what is added from now on. `end`: until a count that is under way has been used. */
  function begin(
    { tenantId: id, limits }: LimitedTenant,
    { queuedJobs = 0, workers = 0, storedBytes = 0 }: Addition,
  ): Omit<Decision, 'full'> {
    const ends = [
      ...(queuedJobs > 0 ? [admitted.queuedJobs.begin(id)] : []),
      ...(workers > 0 ? [admitted.workers.begin(id)] : []),
    ];
    let endContent = storedBytes > 0 ? bytes.begin(id, storedBytes) : null;
    const reserve: Reserve = (size) => {
      if (limits.stored_mb === undefined) return null;
      endContent?.(false);
      endContent = null;
      const refusal = overQuota(limits, withAdmitted({ ...NONE, storedBytes: bytes.measured(id) }, id), {
        storedBytes: size,
      });
      if (refusal === null) endContent = bytes.begin(id, size);
      return refusal;
    };
    const end = (areStored: boolean): void => {
      for (const one of ends) one();
      endContent?.(areStored);
    };
    return { reserve, end };
  }

  return {
    async admit(tenant, adds, work) {
      const { tenantId: id, limits } = tenant;
      const added = additionOf(limits, adds);
      const upTo = countedFor(limits, added);
      if (upTo === null) return work(null, UNLIMITED);
      const { full, reserve, end } = await decide(tenant, added, upTo);
      let areStored = true;
      try {
        return await work(full, reserve);
      } catch (error) {
        areStored = !(error instanceof RequestRefused);
        throw error;
      } finally {
        // A count that is under way may not have seen what this work stored.
        counts.afterThose(id, () => {
          end(areStored);
          underWay.ended(id);
        });
      }
    },
  };
}

const UNLIMITED: Reserve = () => null;
const NONE: Usage = { queuedJobs: 0, workers: 0, storedBytes: 0 };
