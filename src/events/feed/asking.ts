/** Requests for a snapshot, which go to the process that holds the context. */
import type { ProcessId } from '../../core/ids.ts';
import { step, type FeedState, type FeedStep, type Holder } from './state.ts';

/** Time between two requests for a snapshot at least, in milliseconds. */
const ASK_AGAIN_MS = 150;

/** Null: no process holds the context, or it has no subscribers. */
export function ownerToNotify({ isSubscribed, holder }: FeedState): ProcessId | null {
  return isSubscribed ? holder.owner : null;
}

export function ask(state: FeedState, now: number): FeedStep {
  const owner = ownerToNotify(state);
  if (owner === null || now - state.askedAt < ASK_AGAIN_MS) return step(state);
  return step({ ...state, askedAt: now, isMissing: false }, { kind: 'ask', owner });
}

/** Asks although a request was sent a moment ago. */
export function askAgain(state: FeedState, now: number): FeedStep {
  return ask({ ...state, askedAt: -Infinity }, now);
}

/** A new holder is asked at once. An older one is ignored. */
export function setHolder(state: FeedState, { owner, epoch }: Holder, now: number): FeedStep {
  const before = state.holder;
  if (epoch < before.epoch || (owner === before.owner && epoch === before.epoch)) return step(state);
  return askAgain({ ...state, holder: { owner, epoch } }, now);
}
