/** A wait until a given time: short waits keep the slot, long waits park the context. */
import type { Decision } from '../../core/decide.ts';
import { sleep } from '../../core/transitions/park.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { commit, readMailbox, type After, type Run } from '../run.ts';

export async function wait(run: Run, snapshot: Snapshot, step: Extract<Decision, { kind: 'wait' }>): Promise<After> {
  if (!step.keepSlot) return commit(run, snapshot, sleep(snapshot, step.job, step.until));
  await run.pause(Math.max(0, step.until - run.clock.now()), run.signals.soft);
  return run.signals.soft.aborted ? readMailbox(run, snapshot) : snapshot;
}
