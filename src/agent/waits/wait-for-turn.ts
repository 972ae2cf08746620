/**
 * A model call that is throttled. As with a retry, a short wait keeps its slot and a long wait parks the
 * context; but nothing failed, so no failure is counted.
 */
import type { ThrottledAccess } from '../../core/run/throttle.ts';
import { throttledBy, wasRefused, type ActiveJob } from '../../core/run/job.ts';
import { throttledUntil } from '../../core/transitions/park.ts';
import { KEEP_SLOT_MS } from '../../core/run/retry.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { commit, readMailbox, type After, type Run } from '../run.ts';

export async function waitForTurn(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  access: ThrottledAccess,
): Promise<After> {
  const now = run.clock.now();
  const { throttle } = access;
  const throttled = throttledBy(job, throttle, now);
  if (throttle.until - now <= KEEP_SLOT_MS) {
    const timeout = Math.max(now, throttle.until) + KEEP_SLOT_MS;
    const until = Math.min(timeout, job.deadline ?? timeout);
    const isCalled = await access.turn(until, run.signals.soft);
    if (run.signals.soft.aborted) return readMailbox(run, snapshot);
    if (isCalled) return { ...snapshot, job: called(job, throttled) };
    if (until === job.deadline) return snapshot;
  }
  return commit(run, snapshot, throttledUntil(snapshot, throttled, access.comeAgainAt()));
}

/** A job remembers that its prompt was refused as too long, so that it is compacted, and only once. */
function called(job: ActiveJob, throttled: ActiveJob): ActiveJob {
  return wasRefused(job) ? job : throttled;
}
