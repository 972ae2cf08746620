/**
 * Writes an answer together with the results of calls that ended before it was stored. The resulting history is the
 * same as with two appends.
 */
import type { Append } from '../run/append.ts';
import { callsAfter } from '../run/apply.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Snapshot } from '../run/snapshot.ts';
import { closeCalls, type ClosedCall } from './tools.ts';

/** An answer of the job that is about to be stored. `answerAppend`: the append that stores it, based on `snapshot`. */
type PendingAnswer = { snapshot: Snapshot; job: ActiveJob; answerAppend: Append };

/**
 * `closed`: calls that the answer requests. Guarded, unlike an answer alone: a concurrent write may forbid such a call
 * or end the job.
 */
export function answerWithResults(
  { snapshot, job, answerAppend }: PendingAnswer,
  closed: readonly ClosedCall[],
): Append {
  if (closed.length === 0) return answerAppend;
  const kept: Snapshot = {
    ...snapshot,
    calls: callsAfter(snapshot.calls, answerAppend),
    state: answerAppend.state,
  };
  const { entries, calls, state } = closeCalls(kept, job, closed);
  return {
    ...answerAppend,
    guard: { ...answerAppend.guard, controlSeq: snapshot.controlSeq },
    entries: [...answerAppend.entries, ...entries],
    calls: [...answerAppend.calls, ...calls],
    state,
  };
}
