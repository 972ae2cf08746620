/** A job ends, by whatever verdict. */
import type { Append } from '../append.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob, JobOutcome } from '../job.ts';
import type { Message } from '../message.ts';
import type { Mailbox } from '../snapshot.ts';
import { interrupt } from './interrupt.ts';
import { settle } from './settle.ts';

/** `history`: of which the job's own messages are looked at, and only where it was interrupted. */
export function end(
  mailbox: Mailbox,
  job: ActiveJob,
  outcome: JobOutcome,
  history: readonly Message[],
  ids: Ids,
): Append {
  if (outcome.status !== 'interrupted') return settle(mailbox, job, outcome, ids);
  const added = history.filter(({ jobId }) => jobId === job.id);
  return interrupt(mailbox, job, outcome.mode, added, ids);
}
