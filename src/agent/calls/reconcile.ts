/**
 * Calls that were started and whose process is gone: their tools are asked concurrently, and the answers are written
 * in one append. Asking has no side effects, so it is repeated after a crash.
 */
import type { Json } from '../../core/json.ts';
import type { ActiveJob } from '../../core/run/job.ts';
import { settleOutcomes, type LostCall } from '../../core/transitions/outcome.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { Reconciled, ToolInvocation } from '../../core/tools/tool.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { inputOf, toInvocation } from './invocation.ts';
import { commit, readMailbox, type After, type Run } from '../run.ts';
import { untilDeadline } from '../waits/until-deadline.ts';

/** If a control signal arrives meanwhile, nothing is written: the loop decides again. */
export async function reconcile(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  lost: readonly OpenCall[],
): Promise<After> {
  const reports = await Promise.all(
    lost.map(async (call) => {
      const invocation = toInvocation(snapshot, job, call, inputOf(snapshot, call));
      return { call, input: invocation.input, reconciled: await ask(run, job, invocation) };
    }),
  );
  const calls = reports.filter(isReconciled);
  if (calls.length < reports.length) return readMailbox(run, snapshot);
  const { outcomeWaitMs } = run.tools;
  const until = outcomeWaitMs === null ? null : run.clock.now() + outcomeWaitMs;
  return commit(run, snapshot, settleOutcomes(snapshot, job, { calls, until }));
}

function ask(run: Run, job: ActiveJob, invocation: ToolInvocation): Promise<Reconciled> {
  return untilDeadline(run.clock, job, run.signals.soft, (signal) => run.tools.reconcile(invocation, signal));
}

function isReconciled(one: { call: OpenCall; input: Json; reconciled: Reconciled }): one is LostCall {
  return one.reconciled.kind !== 'aborted';
}
