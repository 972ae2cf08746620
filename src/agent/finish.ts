/**
 * A job ends. Where it is interrupted after it had a summary made, what it added may not be remembered any more, and the
 * summary may tell of what is taken back: the former is read, and the context is given back, to be read anew.
 */
import type { Step } from '../core/decide.ts';
import { end } from '../core/moves/end.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { commit } from './run.ts';
import type { After, Run } from './run.ts';

export async function finish(
  run: Run,
  snapshot: Snapshot,
  { job, verdict }: Extract<Step, { kind: 'finish' }>,
): Promise<After> {
  if (verdict.status !== 'interrupted' || snapshot.compacted.summary?.jobId !== job.id) {
    return commit(run, snapshot, end(snapshot, job, verdict, snapshot.history, run.ids));
  }
  const move = end(snapshot, job, verdict, await run.journal.added(snapshot), run.ids);
  return commit(run, snapshot, { ...move, park: move.park ?? { status: 'runnable' } });
}
