/** How a call begins to wait, and whether it still waits. */
import type { ActiveJob } from './job.ts';
import type { Millis } from '../time.ts';
import type { Asking } from './policy.ts';
import type { OpenCall, Wait } from '../tools/tool-call.ts';

/** `approval`: a person must approve the call. `answer`: a person or client must answer it. */
export function askedWait(to: 'approval' | 'answer', { approvalMs, answerMs }: Asking, now: Millis): Wait {
  const lasts = to === 'approval' ? approvalMs : answerMs;
  return { for: to, until: lasts === null ? null : now + lasts, needs: null };
}

/** Waits of the job that have ended or timed out, as of `now`. */
export type EndedWaits = { job: ActiveJob; over: readonly OpenCall[]; now: Millis };

/** Nothing has arrived, and it has not timed out. */
export function isWaiting(call: OpenCall, now: Millis): boolean {
  return call.status === 'waiting' && !isOver(call, now);
}

export function isForWorkers({ wait }: OpenCall): boolean {
  return wait?.for === 'workers';
}

/** It was waiting, and its answer has arrived or it timed out; or it has settled in its transaction. */
export function isOver({ status, reply, approval, wait }: OpenCall, now: Millis): boolean {
  if (status !== 'waiting') return reply !== null;
  const isDecided = approval !== null && wait?.for === 'approval';
  return reply !== null || isDecided || (wait?.until ?? Infinity) <= now || (wait?.needs ?? 1) <= 0;
}
