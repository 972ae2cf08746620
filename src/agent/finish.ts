/**
 * A job ends. In three cases the run's memory then differs from the stored history, and the context is released so
 * that history is read again: inputs join whose content was not read; the job is interrupted after it made a summary,
 * which may describe retracted messages; or it is interrupted and history was not read completely. In the last two
 * cases the messages that the job added are read from the database.
 */
import { end } from '../core/transitions/end.ts';
import { isRead } from '../core/transitions/steer.ts';
import type { JobEnd } from '../core/run/job.ts';
import type { Snapshot } from '../core/run/snapshot.ts';
import { commit, type After, type Run } from './run.ts';

export async function finish(run: Run, snapshot: Snapshot, ending: JobEnd): Promise<After> {
  const { job, outcome } = ending;
  const knowsAdded = snapshot.unread === null && snapshot.compacted.summary?.jobId !== job.id;
  const isKnown = outcome.status !== 'interrupted' || knowsAdded;
  const added = isKnown ? snapshot.history : await run.journal.added(snapshot);
  const transition = end(snapshot, ending, added, run.ids);
  const whole = run.aborted.storedWith(transition, job.id, run.clock.now());
  const isInStep = isKnown && snapshot.steers.every(isRead);
  return commit(run, snapshot, isInStep ? whole : { ...whole, park: whole.park ?? { status: 'runnable' } });
}
