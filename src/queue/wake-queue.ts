/**
 * The doorbell: a queue entry that says "look at context X". It carries no data and no truth: one that is lost costs
 * latency (the sweep finds the work), one too many costs a look.
 */
import type { ContextId } from '../core/ids.ts';

export type WakeUp = {
  contextId: ContextId;
  wakeSeq: number;
  epoch: number;
};

/** Rings. */
export type WakeQueue = {
  /** Never throws, never waits: a ring that a queue does not take is lost, and the sweep covers it. */
  notify(notify: WakeUp): void;
  /** Whether the queue answers now. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
};

/** Answers rings, `concurrency` at once. The entry is done when `answer` resolves, whatever came of it. */
export type QueueConsumer = {
  /** Takes no new entries; those being answered go on. */
  pause(): Promise<void>;
  /** Waits for what is being answered. */
  close(): Promise<void>;
};

export type HandleWakeUp = (contextId: ContextId) => Promise<void>;

/** Somewhere rings go and come from. */
export type Queue = {
  openWakeQueue(): WakeQueue;
  listen(answer: HandleWakeUp, concurrency: number): Promise<QueueConsumer>;
};

export const QUEUE_NAME = 'wake-ups';
export const WAKE_UP_NAME = 'ring';

/** New after every wake-up and every claim, so that a dead runner's entry never swallows a ring. */
export function wakeUpId({ contextId, wakeSeq, epoch }: WakeUp): string {
  return `${contextId}-${wakeSeq}-${epoch}`;
}
