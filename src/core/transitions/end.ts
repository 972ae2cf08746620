/**
 * A job ends with any outcome. If its last model call gave no answer, what the call had streamed is stored with the end:
 * beside the history, so no prompt ever has it.
 */
import { retractionAtEnd } from '../conversation/retraction.ts';
import { answerTurn } from '../conversation/turn.ts';
import type { Append } from '../run/append.ts';
import type { Ids, MessageId } from '../ids.ts';
import type { Millis } from '../time.ts';
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

/** What an answer had when its call ended. `text`: without reasoning and calls; empty: there was none. */
export type Unfinished = { id: MessageId; text: string };

/** `settled`: the append that ends the job. `answer` null: its last model call asked for a summary. */
export function withPartial(settled: Append, answer: Unfinished | null, now: Millis): Append {
  if (settled.job?.kind !== 'settle' || answer === null || answer.text.trim() === '') return settled;
  const { id, text } = answer;
  const { job } = settled.job;
  const retraction = retractionAtEnd(settled.job, now);
  if (retraction === null) return settled;
  const partial = { kind: 'partial' as const, id, turn: answerTurn(job.turn), text, jobId: job.id, retraction };
  return { ...settled, entries: [partial, ...settled.entries] };
}
