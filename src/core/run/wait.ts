/** Whether a waiting call still waits. */
import type { ActiveJob } from './job.ts';
import type { Millis } from '../time.ts';
import type { OpenCall } from '../tools/tool-call.ts';

/** Waits of the job that have ended or timed out, as of `now`. */
export type EndedWaits = { job: ActiveJob; over: readonly OpenCall[]; now: Millis };

/** Nothing has arrived, and it has not timed out. */
export function isWaiting(call: OpenCall, now: Millis): boolean {
  return call.status === 'waiting' && !isOver(call, now);
}

export function isForWorkers({ wait }: OpenCall): boolean {
  return wait?.for === 'workers';
}

/** It was waiting, and its answer has arrived or it timed out. */
export function isOver({ status, reply, approval, wait }: OpenCall, now: Millis): boolean {
  if (status !== 'waiting') return false;
  const isDecided = approval !== null && wait?.for === 'approval';
  return reply !== null || isDecided || (wait?.until ?? Infinity) <= now || (wait?.needs ?? 1) <= 0;
}
