// Each row that a transaction of the service has committed is one job with its id, or was refused because its worker was
// stopped; of a transaction that was rolled back there is nothing. Rows are relayed in their order, soon after the last
// fault, and leave nothing behind.
import { groupBy, type Check, type Violation } from '../world/world.ts';
import type { Order, Orders } from '../world/service.ts';
import { reporter } from './violation.ts';

const violation = reporter('outbox');

/**
 * After errors a worker process looks again after 38 seconds at most; the session of one that is dead, silent or frozen may
 * have the rows for as long as a lease before.
 */
const RELAYED_WITHIN_MS = 60_000;

export const outbox: Check = {
  name: 'outbox',
  find({ service: { orders }, jobs }) {
    const { made, committed, left, receipts, submissions, relayedMs } = orders;
    const positions = new Map(jobs.map(({ id, position }) => [id, position]));
    const refused = new Map(submissions.map(({ id, code }) => [id, code]));
    const known = new Set(committed);
    return [
      ...nothingHappened(orders),
      ...left.map(({ job_id: id, code }) => violation(`a row is left in the outbox (${code ?? 'waiting'})`, null, id)),
      ...(receipts === 0 ? [] : [violation(`${receipts} receipts are left`, null)]),
      ...lateness(relayedMs),
      ...made.flatMap((order) => orderFaults(order, known.has(order.jobId), positions, refused)),
      ...outOfOrder(made, positions),
    ];
  },
};

/** A run without these tests nothing. */
function nothingHappened({ made, committed }: Orders): Violation[] {
  return [
    ...(committed.length === 0 ? [violation('no row was committed', null)] : []),
    ...(made.some(({ isRolledBack }) => isRolledBack) ? [] : [violation('no row was rolled back', null)]),
  ];
}

function lateness(relayedMs: number | null): Violation[] {
  if (relayedMs === null) return [violation('rows are still in the outbox when the time is up', null)];
  if (relayedMs <= RELAYED_WITHIN_MS) return [];
  return [violation(`the last row was relayed ${relayedMs} ms after the last fault`, null)];
}

function orderFaults(
  { jobId, contextId, isOwn, isRolledBack }: Order,
  isCommitted: boolean,
  jobs: ReadonlyMap<string, number>,
  refused: ReadonlyMap<string, string | null>,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, contextId, jobId));
  const code = refused.get(jobId);
  if (isRolledBack && isCommitted) note('a transaction was rolled back, and has committed');
  if (!isCommitted && (jobs.has(jobId) || code !== undefined)) note('a row that was not committed was relayed');
  if (isCommitted && !jobs.has(jobId) && code === undefined) note('a committed row is lost');
  if (jobs.has(jobId) && code !== undefined) note('a row is a job and a submission');
  // Only clients of the platform stop workers, and none knows those of the service.
  if (code !== undefined && (isOwn || code !== 'worker_stopped')) note(`a row became no job: ${code}`);
  return faults;
}

/** A client of the service posts to its worker one transaction after the other. */
function outOfOrder(made: readonly Order[], positions: ReadonlyMap<string, number>): Violation[] {
  const own = groupBy(
    made.filter(({ isOwn }) => isOwn),
    ({ contextId }) => contextId,
  );
  return [...own].flatMap(([contextId, orders]) => {
    const placed = orders.flatMap(({ jobId }) => {
      const position = positions.get(jobId);
      return position === undefined ? [] : [{ jobId, position }];
    });
    return placed
      .filter(({ position }, at) => position < (placed[at - 1]?.position ?? -Infinity))
      .map(({ jobId }) => violation('a row overtook an earlier one of its context', contextId, jobId));
  });
}
