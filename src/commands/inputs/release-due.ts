/**
 * Queues the delayed inputs of a context that are due, in one transaction: so each of them joins the queue exactly once,
 * whatever dies, and however many processes try it. Afterwards they are queued inputs like all others.
 *
 * - Checked: the context's row is free, and is locked; its tenant is active.
 * - Written: one statement, `jobs.release`: the jobs and messages become queued, and the context runnable.
 * - After the commit: a wake-up, if no process runs the context.
 */
import { lockToRelease, releaseDue, type DueContext } from '../../db/write/inputs/delayed-inputs.ts';
import { wakeUpIfRunnable } from '../after-commit.ts';
import { done, type Command } from '../perform.ts';

/** The value is false if none was due, or another process has the context. */
export function releaseDueInputs(due: DueContext): Command<boolean> {
  return async (tx) => {
    const released = (await lockToRelease(tx, due)) ? await releaseDue(tx, due) : null;
    return released === null ? done(false) : done(true, ...wakeUpIfRunnable(due.contextId, released));
  };
}
