/** A call that waits for somebody, or for a moment: whether it still does. */
import type { Millis } from './time.ts';
import type { OpenCall } from './tool-call.ts';

/** Nothing came, and it is not over by itself. */
export function isWaiting(call: OpenCall, now: Millis): boolean {
  return call.status === 'waiting' && !isOver(call, now);
}

export function isForWorkers({ wait }: OpenCall): boolean {
  return wait?.for === 'workers';
}

/** It waited, and what it waited for has come, or comes no more. */
export function isOver({ status, reply, approval, wait }: OpenCall, now: Millis): boolean {
  if (status !== 'waiting') return false;
  const isDecided = approval !== null && wait?.for === 'approval';
  return reply !== null || isDecided || (wait?.until ?? Infinity) <= now || (wait?.needs ?? 1) <= 0;
}
