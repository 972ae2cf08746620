/** Inputs join the running job: each starts the next turn. */
import type { Append, Entry } from '../run/append.ts';
import type { ActiveJob, SteeredInput } from '../run/job.ts';
import type { Mailbox, Snapshot } from '../run/snapshot.ts';
import { inputTurn } from '../conversation/turn.ts';
import { blank } from './base.ts';

/**
 * Inputs whose content was read join; the others are read in the next step. Guarded: a withdrawn input must not be
 * admitted. Does not count as progress of the job.
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

/** The entries that admit steered inputs to history. The job's own turn is the highest one so far. */
export function joining({ steers }: Pick<Mailbox, 'steers'>, job: ActiveJob): Entry[] {
  return steers.map(({ messageId }, index) => ({
    kind: 'admit',
    messageId,
    turn: inputTurn(job.turn + 1 + index),
  }));
}
