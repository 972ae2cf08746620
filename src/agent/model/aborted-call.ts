/**
 * The last model call of a run, if it was aborted. When its job ends before another call begins, the end stores the call,
 * and the text that it had streamed.
 */
import type { JobId } from '../../core/ids.ts';
import type { StoppedCall } from '../../core/model/model-call.ts';
import type { Append } from '../../core/run/append.ts';
import type { Millis } from '../../core/time.ts';
import { withPartial, type Unfinished } from '../../core/transitions/end.ts';

type Aborted = { call: StoppedCall; answer: Unfinished };

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
