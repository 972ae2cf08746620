/**
 * The wake queue. Its entries only name a context that may have work, and carry no data. A lost entry costs latency,
 * because the sweep finds the work; a redundant one costs a look at the context.
 */
import type { ContextId } from '../core/ids.ts';

export type WakeUp = {
  contextId: ContextId;
  wakeSeq: number;
  epoch: number;
};

export type WakeQueue = {
  /** Never throws, never waits. A wake-up that the queue does not accept is lost, and the sweep finds the context. */
  notify(notify: WakeUp): void;
  /** Whether the queue answers now. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
};

/** Handles wake-ups, `concurrency` at once. The entry is done when `answer` resolves, whatever the outcome. */
export type QueueConsumer = {
  /** Takes no new entries; those in progress go on. */
  pause(): Promise<void>;
  /** Takes entries again. */
  resume(): Promise<void>;
  /** Closes the consumer without waiting for entries in progress. */
  close(): Promise<void>;
};

/** `isNew`: no process had claimed the context when it was woken up, and nothing had woken it up before. */
export type HandleWakeUp = (contextId: ContextId, isNew: boolean) => Promise<void>;

export type Queue = {
  openWakeQueue(): WakeQueue;
  listen(answer: HandleWakeUp, concurrency: number): Promise<QueueConsumer>;
};

export const QUEUE_NAME = 'wake-ups';
