/**
 * Room for more jobs, workers and content of tenants with limits. What they have is counted when a request asks. What
 * this process has admitted and not done yet counts too, so only several processes can exceed a limit together, by what
 * they admit at the same moment, or since they measured what is stored. Nothing is locked.
 */
import { additionOf, type Adds, type LimitedTenant } from '../../commands/tenants/within-quota.ts';
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
import { readStoredBytes, readUsage } from '../../db/read/installation/usage.ts';
import { RequestRefused } from '../response/problem.ts';
import { createSharedCounts } from './shared-counts.ts';
import { createStoredBytes } from './stored-bytes.ts';
import { createTally } from './tally.ts';
import { createUnderWay } from './under-way.ts';

/** What a job that is queued without a message adds. */
export const ONE_JOB = { queuedJobs: 1, content: 'unknown' } as const satisfies Adds;

/** How long a request waits until what may have been counted twice is counted again, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/**
 * Admits the content of the request, once its size is known; called again, in place of what it admitted before. Why the
 * tenant may not store so much; null: it may.
 */
export type Take = (bytes: number) => Refusal | null;

export type Rooms = {
  /** Does the work. `full`: why the tenant may not add so much; null: it may, and that much counts until the work ends. */
  admit<Result>(
    tenant: LimitedTenant,
    adds: Adds,
    work: (full: Refusal | null, take: Take) => Promise<Result>,
  ): Promise<Result>;
};

/** `end`: of what was begun. */
type Decision = { full: Refusal | null; take: Take; end: (areStored: boolean) => void };

export function openRooms({ everywhere: { db } }: Pick<Database, 'everywhere'>): Rooms {
  const counts = createSharedCounts((id, upTo) => readUsage(db, id, upTo));
  const bytes = createStoredBytes(
    (id) => readStoredBytes(db, id),
    () => performance.now(),
  );
  const underWay = createUnderWay();
  const admitted = { queuedJobs: createTally<TenantId>(), workers: createTally<TenantId>() };

  const withAdmitted = ({ queuedJobs, workers, storedBytes }: Usage, id: TenantId): Usage => ({
    queuedJobs: queuedJobs + admitted.queuedJobs.of(id),
    workers: workers + admitted.workers.of(id),
    storedBytes: storedBytes + bytes.admitted(id),
  });

  /** Bytes by the last measurement, which is new if `added` has no room otherwise. */
  async function measure({ tenantId: id, limits }: LimitedTenant, { storedBytes = 0 }: Addition): Promise<void> {
    const measured = bytes.refresh(id);
    const known = withAdmitted({ ...NONE, storedBytes: bytes.measured(id) }, id);
    if (!bytes.isSlow(id) || overQuota(limits, known, { storedBytes }) !== null) return measured;
    // If it fails, the next one tells.
    measured.catch(() => undefined);
  }

  /** Nothing waits between the last count and what follows from it. */
  async function decide(tenant: LimitedTenant, added: Addition, upTo: Counted): Promise<Decision> {
    const { tenantId: id, limits } = tenant;
    const until = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      if (upTo.storedBytes) await measure(tenant, added);
      const isCounted = upTo.queuedJobs !== null || upTo.workers !== null;
      const counted = isCounted ? await counts.count(id, upTo) : NONE;
      const stored = { ...counted, storedBytes: bytes.measured(id) };
      const full = overQuota(limits, withAdmitted(stored, id), added);
      const leftMs = until - performance.now();
      // Otherwise it is full with what was admitted, which may have been counted already.
      if (full === null) return { full, ...begin(tenant, added) };
      if (overQuota(limits, stored, added) !== null || leftMs <= 0) {
        // Content may join a job though nothing may be queued.
        return { full, ...begin(tenant, isOfContent(full) ? {} : { storedBytes: added.storedBytes ?? 0 }) };
      }
      const newerInMs = upTo.storedBytes ? bytes.nextInMs(id) : leftMs;
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
    const take: Take = (size) => {
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
    return { take, end };
  }

  return {
    async admit(tenant, adds, work) {
      const { tenantId: id, limits } = tenant;
      const added = additionOf(limits, adds);
      const upTo = countedFor(limits, added);
      if (upTo === null) return work(null, ANY);
      const { full, take, end } = await decide(tenant, added, upTo);
      let areStored = true;
      try {
        return await work(full, take);
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

const ANY: Take = () => null;
const NONE: Usage = { queuedJobs: 0, workers: 0, storedBytes: 0 };
