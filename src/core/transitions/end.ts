/** A job ends with any outcome. */
import type { Append } from '../run/append.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob, JobOutcome } from '../run/job.ts';
import type { Message } from '../conversation/message.ts';
import type { Mailbox } from '../run/snapshot.ts';
import { interrupt } from './interrupt.ts';
import { settle } from './settle.ts';

/** `history`: only the job's own messages are used, and only if the job was interrupted. */
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
