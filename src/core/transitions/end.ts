/** A job ends with any outcome. */
import type { Append } from '../run/append.ts';
import type { Ids } from '../ids.ts';
import type { JobEnd } from '../run/job.ts';
import type { Message } from '../conversation/message.ts';
import type { Mailbox } from '../run/snapshot.ts';
import { takeBack } from './interrupt.ts';
import { settle } from './settle.ts';

/** `history`: only the job's own messages are used, and only if the job was interrupted. */
export function end(mailbox: Mailbox, { job, outcome }: JobEnd, history: readonly Message[], ids: Ids): Append {
  const settled = settle(mailbox, job, outcome);
  if (outcome.status !== 'interrupted' || outcome.mode === 'keep') return settled;
  const added = history.filter(({ jobId }) => jobId === job.id);
  return takeBack(mailbox, settled, { job, mode: outcome.mode, added }, ids);
}
