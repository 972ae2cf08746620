/** The agent loop: decide, execute, append, and repeat until the context is released. */
import { decide, type Decision } from '../core/decide.ts';
import { LeaseLost } from '../core/errors.ts';
import { admit } from '../core/transitions/admit.ts';
import { releaseUnsupported, releaseUntil, rest } from '../core/transitions/park.ts';
import { awaitCalls, endWaits } from '../core/transitions/waits.ts';
import { steer } from '../core/transitions/steer.ts';
import type { Snapshot } from '../core/run/snapshot.ts';
import type { EndedWaits } from '../core/run/wait.ts';
import { checkStored } from './model/check-output.ts';
import { callModel } from './model/call-model.ts';
import { callTools } from './calls/call-tools.ts';
import { compact } from './model/compact.ts';
import { outcomesOf, recountWaits } from './calls/engage.ts';
import { approvedByTimeout } from './calls/judge.ts';
import { finish } from './finish.ts';
import { commit, seen, type After, type Run } from './run.ts';
import { wait } from './waits/wait.ts';

/** Throws `LeaseLost` when another run owns the context. */
export async function runLoop(run: Run, first: Snapshot): Promise<void> {
  let snapshot: After = seen(run, first);
  try {
    while (snapshot !== null) snapshot = await takeStep(run, snapshot, snapshot === first);
  } finally {
    run.eager.drop();
    run.early?.drop();
  }
}

async function takeStep(run: Run, snapshot: Snapshot, isFirst: boolean): Promise<After> {
  if (run.signals.lost) throw new LeaseLost();
  const step = decide(snapshot, run.clock.now());
  if (snapshot.calls.length === 0) run.eager.drop();
  run.log.step(step.kind, { job_id: snapshot.job?.id ?? null, steps: snapshot.job?.steps ?? 0 });
  const leaves = run.signals.leaving ? isLong(step) : step.kind === 'admit' && !isFirst && run.yields();
  if (leaves) return commit(run, snapshot, releaseUntil(snapshot, null));
  const began = performance.now();
  const after = await carryOut(run, snapshot, step);
  run.log.stepped(step.kind, performance.now() - began);
  return after;
}

/** Steps that a stopping process leaves to another one. */
function isLong(step: Decision): boolean {
  const isShort = ['park', 'finish', 'check_output', 'await_calls'] satisfies Decision['kind'][];
  return !isShort.some((kind) => kind === step.kind);
}

async function carryOut(run: Run, snapshot: Snapshot, step: Decision): Promise<After> {
  switch (step.kind) {
    case 'admit':
      return commit(run, snapshot, admit(snapshot, step.next));
    case 'steer':
      return commit(run, snapshot, steer(snapshot, step.job));
    case 'call_model':
      return callModel(run, snapshot, step);
    case 'compact':
      return compact(run, snapshot, step);
    case 'call_tools':
      return callTools(run, snapshot, step);
    case 'end_waits':
      return endOver(run, snapshot, step);
    case 'await_calls':
      return (await recountWaits(run, snapshot)) ?? commit(run, snapshot, awaitCalls(snapshot, step.job, step.until));
    case 'wait':
      return wait(run, snapshot, step);
    case 'check_output':
      return checkStored(run, snapshot, step);
    case 'finish':
      return finish(run, snapshot, step);
    case 'release_unsupported':
      return commit(run, snapshot, releaseUnsupported(snapshot, run.clock.now()));
    case 'release':
      return commit(run, snapshot, releaseUntil(snapshot, null));
    case 'park':
      return commit(run, snapshot, rest(snapshot));
  }
}

async function endOver(run: Run, snapshot: Snapshot, waits: EndedWaits): Promise<After> {
  const outcomes = await outcomesOf(run, snapshot, waits.over);
  const approved = approvedByTimeout(run, snapshot, waits);
  return commit(run, snapshot, endWaits(snapshot, waits, outcomes, approved));
}
