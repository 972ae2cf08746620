/** A wait for a moment: short ones in place, long ones cost a row. */
import { setTimeout } from 'node:timers/promises';
import type { Step } from '../core/decide.ts';
import { sleep } from '../core/moves/park.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { commit, lookUp } from './run.ts';
import type { After, Run } from './run.ts';

export async function wait(
  run: Run,
  snapshot: Snapshot,
  step: Extract<Step, { kind: 'wait' }>,
): Promise<After> {
  if (!step.hold) return commit(run, snapshot, sleep(snapshot, step.job, step.until));
  const ms = Math.max(0, step.until - run.clock.now());
  await setTimeout(ms, undefined, { signal: run.attention.soft }).catch(() => undefined);
  return run.attention.soft.aborted ? lookUp(run, snapshot) : snapshot;
}
