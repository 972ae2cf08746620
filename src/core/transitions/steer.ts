/** Inputs join the running job: each opens the next turn. */
import type { Append, Entry } from '../append.ts';
import type { ActiveJob, SteeredInput } from '../job.ts';
import type { Mailbox, Snapshot } from '../snapshot.ts';
import { inputTurn } from '../turn.ts';
import { blank } from './base.ts';

/**
 * Those whose content was read join; the others are read after that. Guarded: a withdrawn input must not be admitted. Is no
 * progress of the job's own.
 */
export function steer(snapshot: Snapshot, job: ActiveJob): Append {
  const steers = snapshot.steers.filter(isRead);
  return {
    ...blank(snapshot),
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: joining({ steers }, job),
    job: { kind: 'progress', job: { ...job, turn: job.turn + steers.length } },
    progress: 'none',
  };
}

export function isRead({ content }: SteeredInput): boolean {
  return content !== null;
}

/** The entries with which steered inputs enter history. The job's own turn is the last one there is. */
export function joining({ steers }: Pick<Mailbox, 'steers'>, job: ActiveJob): Entry[] {
  return steers.map(({ messageId }, index) => ({
    kind: 'admit',
    messageId,
    turn: inputTurn(job.turn + 1 + index),
  }));
}
