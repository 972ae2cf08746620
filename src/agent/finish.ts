/**
 * A job ends. In three cases the holder's memory is not what history is then, and the context is released, so that its history
 * is read again: inputs join whose content was not read; the job is interrupted after it had a summary made, which may describe
 * what is retracted; it is interrupted and history was not read whole. In the latter two the messages that the job added are
 * read from the database.
 */
import type { Decision } from '../core/decide.ts';
import { end } from '../core/transitions/end.ts';
import { isRead } from '../core/transitions/steer.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { commit } from './run.ts';
import type { After, Run } from './run.ts';

export async function finish(
  run: Run,
  snapshot: Snapshot,
  { job, outcome }: Extract<Decision, { kind: 'finish' }>,
): Promise<After> {
  const knowsAdded = snapshot.unread === null && snapshot.compacted.summary?.jobId !== job.id;
  const isKnown = outcome.status !== 'interrupted' || knowsAdded;
  const added = isKnown ? snapshot.history : await run.journal.added(snapshot);
  const transition = end(snapshot, job, outcome, added, run.ids);
  const isInStep = isKnown && snapshot.steers.every(isRead);
  return commit(
    run,
    snapshot,
    isInStep ? transition : { ...transition, park: transition.park ?? { status: 'runnable' } },
  );
}
