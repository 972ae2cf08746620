/**
 * A model call whose key is held back. As with a retry a short wait keeps its slot, a long one costs a row; but nothing
 * failed, so nothing is counted.
 */
import type { Held } from '../core/gate.ts';
import type { ActiveJob } from '../core/job.ts';
import { holdBack } from '../core/moves/park.ts';
import { HOLD_MS } from '../core/retry.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { commit, lookUp } from './run.ts';
import type { After, Run } from './run.ts';

export async function waitForTurn(run: Run, snapshot: Snapshot, job: ActiveJob, held: Held): Promise<After> {
  const now = run.clock.now();
  const { hold } = held;
  if (hold.until - now <= HOLD_MS) {
    const patience = Math.max(now, hold.until) + HOLD_MS;
    const until = Math.min(patience, job.deadline ?? patience);
    const isCalled = await held.turn(until, run.attention.soft);
    if (run.attention.soft.aborted) return lookUp(run, snapshot);
    if (isCalled || until === job.deadline) return snapshot;
  }
  return commit(run, snapshot, holdBack(snapshot, job, hold, held.comeAgainAt()));
}
