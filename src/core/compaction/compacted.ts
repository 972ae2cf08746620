/**
 * The compactions of a branch. A compaction deletes nothing: it records up to which message number a prompt shows
 * something shorter. The messages stay stored unchanged.
 */
import type { CompactionId, JobId } from '../ids.ts';
import type { Message } from '../conversation/message.ts';
import type { Usage } from '../money/usage.ts';
import type { CompactorType } from './type.ts';

type Mark = {
  id: CompactionId;
  /** The number of its event: everything with a lower number existed when it was made. */
  seq: number;
  /** The last message it covers: never a `system` message written by the platform. */
  uptoSeq: number;
  jobId: JobId;
  /**
   * Estimated tokens of the prompt after the compaction. Null: it was made on the branch that this one was forked
   * from.
   */
  tokensAfter: number | null;
};

/** `text` replaces every message up to `uptoSeq` in the prompt. */
export type Summary = Mark & { text: string };

/** Tool results up to `uptoSeq` are shown in their short form. */
export type Shortening = Mark;

/** The latest compaction of each kind on a branch. */
export type Compacted = { summary: Summary | null; shortening: Shortening | null };

export const NOTHING_COMPACTED: Compacted = { summary: null, shortening: null };

/** What a run keeps in memory of a branch: its history from the last summarised message on, and its compactions. */
export type Memory = { history: readonly Message[]; compacted: Compacted };

/**
 * A history too large to read at once: its first `messages` are read, the last message is present without content,
 * and those between are missing. `readBytes` and `bytes` are the stored sizes of the part that was read and of the
 * rest.
 */
export type Unread = { messages: number; readBytes: number; bytes: number };

export type NewCompaction = {
  id: CompactionId;
  type: CompactorType;
  branch: string;
  uptoSeq: number;
  /** The summary a model wrote. Null: tool results are shortened instead. */
  summary: string | null;
  /** `provider/model` that wrote the summary. */
  model: string | null;
  tokensBefore: number;
  tokensAfter: number;
  jobId: JobId;
  /** Of the model call. */
  usage: Usage | null;
};

/** The state after `made` was stored with its event under `seq`. */
export function withCompaction(compacted: Compacted, made: NewCompaction, seq: number): Compacted {
  const { id, uptoSeq, jobId, tokensAfter, summary: text } = made;
  const mark: Mark = { id, seq, uptoSeq, jobId, tokensAfter };
  return text === null ? { ...compacted, shortening: mark } : { ...compacted, summary: { ...mark, text } };
}

export function lastCompaction({ summary, shortening }: Compacted): Mark | null {
  if (summary === null || shortening === null) return summary ?? shortening;
  return summary.seq > shortening.seq ? summary : shortening;
}

export function isMadeBy({ summary, shortening }: Compacted, jobId: JobId): boolean {
  return summary?.jobId === jobId || shortening?.jobId === jobId;
}

export function isSummarised({ summary }: Compacted, { seq }: Pick<Message, 'seq'>): boolean {
  return summary !== null && seq <= summary.uptoSeq;
}

/**
 * Whether a prompt shows the message itself. The input to be answered is shown from the first step to the last, even
 * if a summary covers it: a branch can fork at an input that its parent has summarised, and later messages can be
 * retracted. The summary replaces this input only when it covers the answer too.
 */
export function shownBy({ history, compacted }: Memory): (message: Message) => boolean {
  const at = history.findLastIndex(({ role }) => role === 'user');
  const isOpen = history
    .slice(at + 1)
    .every((message) => message.role === 'system' || !isSummarised(compacted, message));
  const last = isOpen ? history[at] : undefined;
  return (message) => !isSummarised(compacted, message) || message.id === last?.id;
}

/** Whether tool results in the message are shown in their short form. */
export function isShortened({ shortening }: Compacted, { seq }: Pick<Message, 'seq'>): boolean {
  return shortening !== null && seq <= shortening.uptoSeq;
}
