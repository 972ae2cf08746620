/** An answer is kept together with what came of calls that ended before it was. History tells the same as it would by two. */
import type { Append } from '../append.ts';
import { callsAfter } from '../apply.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob } from '../job.ts';
import type { Snapshot } from '../snapshot.ts';
import { closeCalls } from './tools.ts';
import type { ClosedCall } from './tools.ts';

/**
 * `said`: the answer, from `snapshot`. `closed`: of the calls that it asks for. Guarded, unlike an answer alone: what was written
 * meanwhile may say that such a call is not to be run, or that the job is to end.
 */
export function answerWithResults(
  snapshot: Snapshot,
  said: Append,
  job: ActiveJob,
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
