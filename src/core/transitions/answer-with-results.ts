/**
 * Writes an answer together with the results of calls that ended before it was stored. The resulting history is the
 * same as with two appends.
 */
import type { Append } from '../run/append.ts';
import { callsAfter } from '../run/apply.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Snapshot } from '../run/snapshot.ts';
import { closeCalls } from './tools.ts';
import type { ClosedCall } from './tools.ts';

/** An answer of the job that is about to be stored. `said`: the append that stores it, based on `snapshot`. */
type PendingAnswer = { snapshot: Snapshot; job: ActiveJob; said: Append };

/**
 * `closed`: calls that the answer requests. Guarded, unlike an answer alone: a concurrent write may forbid such a call
 * or end the job.
 */
export function answerWithResults(
  { snapshot, job, said }: PendingAnswer,
  closed: readonly ClosedCall[],
  ids: Ids,
): Append {
  if (closed.length === 0) return said;
  const kept: Snapshot = { ...snapshot, calls: callsAfter(snapshot.calls, said), state: said.state };
  const { entries, calls, state } = closeCalls(kept, job, closed, ids);
  return {
    ...said,
    guard: { ...said.guard, controlSeq: snapshot.controlSeq },
    entries: [...said.entries, ...entries],
    calls: [...said.calls, ...calls],
    state,
  };
}
