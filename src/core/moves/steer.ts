/** Inputs join the running job: each opens the next turn. */
import type { Append, Entry } from '../append.ts';
import type { ActiveJob } from '../job.ts';
import type { Mailbox, Snapshot } from '../snapshot.ts';
import { inputTurn } from '../turn.ts';
import { blank } from './base.ts';

/** Guarded: a withdrawn input must not be admitted. Is no progress of the job's own. */
export function steer(snapshot: Snapshot, job: ActiveJob): Append {
  return {
    ...blank(snapshot),
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: joining(snapshot, job),
    job: { kind: 'progress', job: { ...job, turn: job.turn + snapshot.steers.length } },
    progress: 'none',
  };
}

/** The entries with which steered inputs enter history. The job's own turn is the last one there is. */
export function joining({ steers }: Mailbox, job: ActiveJob): Entry[] {
  return steers.map(({ messageId }, index) => ({
    kind: 'admit',
    messageId,
    turn: inputTurn(job.turn + 1 + index),
  }));
}
