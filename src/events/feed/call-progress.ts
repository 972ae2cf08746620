/** Progress of calls: sent as it arrives, and not kept. Frames can be lost, or late. */
import { progressEvent, type ProgressFrame } from '../../core/stream/call-progress.ts';
import { deferFrame } from './reading.ts';
import { step, type FeedState, type FeedStep } from './state.ts';

/** A call that has ended sends nothing more: the message with its result has its id. */
export function takeCallProgress(state: FeedState, frame: ProgressFrame): FeedStep {
  if (state.tail < 0) return step(state);
  if (state.reading !== null) return step(deferFrame(state, { kind: 'call_progress', frame }));
  const { owner } = state.holder;
  const isLate = state.over.includes(frame.toolCallId) || state.over.includes(frame.jobId);
  if (isLate || (owner !== null && owner !== frame.owner)) return step(state);
  return step(state, { kind: 'broadcast', events: [progressEvent(state.contextId, frame)] });
}
