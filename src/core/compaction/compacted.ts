/**
 * What was compacted of a branch. A compaction never destroys: it says up to which number a prompt shows something shorter,
 * and messages stay as they are.
 */
import type { CompactionId, JobId } from '../ids.ts';
import type { Message } from '../message.ts';
import type { Usage } from '../usage.ts';
import type { CompactorType } from './type.ts';

type Mark = {
  id: CompactionId;
  /** The number of its event: what has a lower one was there when it was made. */
  seq: number;
  /** The last message that it stands for: a visible one, and no note of the platform's own. */
  uptoSeq: number;
  jobId: JobId;
  /** Tokens of the prompt as it was then, estimated. Null: it was made on a branch that this one came from. */
  tokensAfter: number | null;
};

/** `text` stands for every message up to `uptoSeq`. */
export type Summary = Mark & { text: string };

/** Results of tools up to `uptoSeq` are shown by their summaries. */
export type Shortening = Mark;

/** Of a branch: the last of each kind that holds. */
export type Compacted = { summary: Summary | null; shortening: Shortening | null };

export const NOTHING_COMPACTED: Compacted = { summary: null, shortening: null };

/** What a context remembers of a branch: from the last message on that a summary stands for, where there is one. */
export type Memory = { history: readonly Message[]; compacted: Compacted };

/**
 * A history that is too long to be read at once: its first `messages` are read, the last one is there without its content, and
 * those between are missing. `readBytes` and `bytes` are the sizes, as stored, of what is read and of the rest.
 */
export type Unread = { messages: number; readBytes: number; bytes: number };

/** One that is yet to be stored. */
export type NewCompaction = {
  id: CompactionId;
  type: CompactorType;
  branch: string;
  uptoSeq: number;
  /** Of a model: what it made of them. Null: results of tools are shortened. */
  summary: string | null;
  /** `provider/model` that wrote the summary. */
  model: string | null;
  tokensBefore: number;
  tokensAfter: number;
  jobId: JobId;
  /** Of the model call. */
  usage: Usage | null;
};

/** After `made` was stored with its event under `seq`. */
export function withCompaction(compacted: Compacted, made: NewCompaction, seq: number): Compacted {
  const { id, uptoSeq, jobId, tokensAfter, summary: text } = made;
  const mark: Mark = { id, seq, uptoSeq, jobId, tokensAfter };
  return text === null ? { ...compacted, shortening: mark } : { ...compacted, summary: { ...mark, text } };
}

/** The one that was made last. */
export function lastCompaction({ summary, shortening }: Compacted): Mark | null {
  if (summary === null || shortening === null) return summary ?? shortening;
  return summary.seq > shortening.seq ? summary : shortening;
}

/** Whether this job made any of those that hold. */
export function isMadeBy({ summary, shortening }: Compacted, jobId: JobId): boolean {
  return summary?.jobId === jobId || shortening?.jobId === jobId;
}

/** Whether a summary stands for the message. */
export function isSummarised({ summary }: Compacted, { seq }: Pick<Message, 'seq'>): boolean {
  return summary !== null && seq <= summary.uptoSeq;
}

/**
 * Whether a prompt shows the message itself. The input that it is to answer is shown, whatever stands for it, from the first
 * step to the last: a branch may begin at an input that its parent has long summarised, and what came after one may be taken
 * back. Only a summary that tells of the answer too stands for it.
 */
export function shownBy({ history, compacted }: Memory): (message: Message) => boolean {
  const at = history.findLastIndex(({ role }) => role === 'user');
  const isOpen = history
    .slice(at + 1)
    .every((message) => message.role === 'system' || !isSummarised(compacted, message));
  const last = isOpen ? history[at] : undefined;
  return (message) => !isSummarised(compacted, message) || message.id === last?.id;
}

/** Whether results of tools in it are shown by their summaries. */
export function isShortened({ shortening }: Compacted, { seq }: Pick<Message, 'seq'>): boolean {
  return shortening !== null && seq <= shortening.uptoSeq;
}
