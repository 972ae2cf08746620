// What became of inputs that were sent once, without a key, and got no answer: found in the stored rows.
import { textOf } from '../../../src/core/conversation/blocks.ts';
import { tagIn } from '../clients/inputs.ts';
import type { Outcome, Posted, World } from './world.ts';

type Stored = Pick<World, 'jobs' | 'messages' | 'calls'>;

/** With its outcome, if no answer said it: stored once, or not at all. Twice is found by the checks. */
export function foundOut(input: Posted, stored: Stored): Posted {
  return input.outcome.kind === 'unknown' ? { ...input, outcome: outcomeOf(input, stored) } : input;
}

/** The times of an accepted one are not known: the order of its queue is checked by its position alone. */
function outcomeOf({ tag }: Posted, { jobs, messages, calls }: Stored): Outcome {
  const accepted = { kind: 'accepted', at: Infinity, after: Infinity } as const;
  const message = messages.find(({ role, content }) => role === 'user' && tagIn(textOf(content)) === tag);
  const job = message === undefined ? undefined : jobs.find(({ message_id: id }) => id === message.id);
  if (job !== undefined) return { ...accepted, jobId: job.id, messageId: job.message_id, branch: job.branch };
  const answered = calls.find(({ reply }) => typeof reply?.content === 'string' && tagIn(reply.content) === tag);
  if (answered !== undefined) return { ...accepted, jobId: answered.job_id, messageId: answered.id, branch: null };
  return { kind: 'refused', code: 'no_answer', at: Infinity };
}
