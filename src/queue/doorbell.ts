/**
 * The doorbell: a queue entry that says "look at context X". It carries no data and no truth: one that is lost costs
 * latency (the sweep finds the work), one too many costs a look.
 */
import type { ContextId } from '../core/ids.ts';

export type Ring = {
  contextId: ContextId;
  wakeSeq: number;
  epoch: number;
};

/** Rings. */
export type Bell = {
  /** Never throws, never waits: a ring that a queue does not take is lost, and the sweep covers it. */
  ring(ring: Ring): void;
  /** Whether the queue answers now. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
};

/** Answers rings, `concurrency` at once. The entry is done when `answer` resolves, whatever came of it. */
export type Listener = {
  /** Takes no new entries; those being answered go on. */
  pause(): Promise<void>;
  /** Waits for what is being answered. */
  close(): Promise<void>;
};

export type Answer = (contextId: ContextId) => Promise<void>;

/** Somewhere rings go and come from. */
export type Queue = {
  openBell(): Bell;
  listen(answer: Answer, concurrency: number): Promise<Listener>;
};

export const QUEUE_NAME = 'doorbells';
export const RING_NAME = 'ring';

/** New after every wake-up and every claim, so that a dead runner's entry never swallows a ring. */
export function ringId({ contextId, wakeSeq, epoch }: Ring): string {
  return `${contextId}-${wakeSeq}-${epoch}`;
}
