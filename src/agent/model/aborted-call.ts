/**
 * The last model call of a run, if it was aborted, or failed in a way that ends its job. When the job ends by another
 * append before another call begins, that end stores the call, and the text that it had streamed.
 */
import type { JobId } from '../../core/ids.ts';
import { formatModelName, type ModelName } from '../../core/model/model.ts';
import type { CallStart, StoppedCall, UnansweredCall } from '../../core/model/model-call.ts';
import type { Append } from '../../core/run/append.ts';
import type { ActiveJob } from '../../core/run/job.ts';
import type { Millis } from '../../core/time.ts';
import { withPartial, type Unfinished } from '../../core/transitions/end.ts';

/** `answer` null: the call asked for a summary. */
type Aborted = { call: UnansweredCall; answer: Unfinished | null };

export class AbortedCall {
  #last: Aborted | null = null;

  keep(aborted: Aborted): void {
    this.#last = aborted;
  }

  /** Another call begins: the text is void. */
  drop(): void {
    this.#last = null;
  }

  /** `settled`: the append that ends this job. */
  storedWith(settled: Append, jobId: JobId, now: Millis): Append {
    const last = this.#last;
    if (last === null || last.call.jobId !== jobId) return settled;
    return { ...withPartial(settled, last.answer, now), modelCall: last.call };
  }
}

export function stopped(
  { id: jobId, attempt }: ActiveJob,
  model: ModelName,
  made: CallStart & Pick<StoppedCall, 'prompt'>,
): StoppedCall {
  return { kind: 'stopped', jobId, attempt, model: formatModelName(model), ...made };
}
