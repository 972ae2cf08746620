/** What a claim writes in its own transaction: the first step of the run, where that step begins or resumes a job. */
import type { Append } from '../append.ts';
import type { Step } from '../decide.ts';
import type { Snapshot } from '../snapshot.ts';
import { admit, goOn, resume } from './admit.ts';

/** Null: nothing to begin; the run decides on. */
export function open(snapshot: Snapshot, step: Step): Append | null {
  switch (step.kind) {
    case 'admit':
      return admit(snapshot, step.next);
    case 'call_model':
      return resume(snapshot, step.job, 'AwaitingLLMResponse');
    case 'call_tools':
      return resume(snapshot, step.job, 'ExecutingTools');
    case 'steer':
      return goOn(snapshot, step.job);
    case 'wait':
    case 'finish':
    case 'hand_back':
    case 'park':
      return null;
  }
}
