/**
 * A job ends. If it is interrupted after it had a summary made, or if history was not read whole, the messages that it added may
 * be missing from memory, and the summary may describe messages that are retracted. Then these messages are read from the
 * database, and the context is released, so that its history is read again.
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
  const isRemembered = snapshot.unread === null && snapshot.compacted.summary?.jobId !== job.id;
  if (verdict.status !== 'interrupted' || isRemembered) {
    return commit(run, snapshot, end(snapshot, job, verdict, snapshot.history, run.ids));
  }
  const move = end(snapshot, job, verdict, await run.journal.added(snapshot), run.ids);
  return commit(run, snapshot, { ...move, park: move.park ?? { status: 'runnable' } });
}
