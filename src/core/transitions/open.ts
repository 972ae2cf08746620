/** The append that a claim writes in its own transaction, if the first decision starts or resumes a job. */
import type { Append } from '../run/append.ts';
import type { Decision } from '../decide.ts';
import type { Snapshot } from '../run/snapshot.ts';
import { isForWorkers } from '../run/wait.ts';
import { admit, goOn, resume } from './admit.ts';
import { endWaits, isApprovedByTimeout, isUndecided } from './waits.ts';

/** Null: nothing to start or resume; the run continues with its next decision. */
export function open(snapshot: Snapshot, step: Decision): Append | null {
  switch (step.kind) {
    case 'admit':
      return admit(snapshot, step.next);
    case 'call_model':
    case 'compact':
      return resume(snapshot, step.job, 'AwaitingLLMResponse');
    case 'call_tools':
      return resume(snapshot, step.job, 'ExecutingTools');
    case 'end_waits':
      // The workers' results have to be read first, and tools asked whether they may run without approval.
      return step.over.some(isForWorkers) || (isApprovedByTimeout(snapshot) && step.over.some(isUndecided))
        ? null
        : endWaits(snapshot, step);
    case 'steer':
      return goOn(snapshot, step.job);
    case 'await_calls':
    case 'check_output':
    case 'wait':
    case 'finish':
    case 'release_unsupported':
    case 'release':
    case 'park':
      return null;
  }
}
