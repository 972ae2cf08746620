/** Delta frames of the partial message, which can be lost, repeated or late. */
import { answerOf, catchUp, follow, type DeltaFrame } from '../../core/stream/partial-message.ts';
import type { Subscriber } from '../subscriber.ts';
import { ask } from './asking.ts';
import { deferFrame, readHead } from './reading.ts';
import { isOver, step, withOver, type Check, type FeedEvent, type FeedState, type FeedStep } from './state.ts';

export function takeFrame(state: FeedState, frame: DeltaFrame, now: number): FeedStep {
  if (state.tail < 0) return step(state);
  if (state.reading !== null) return step(deferFrame(state, { kind: 'frame', frame }));
  const of = answerOf(frame);
  // The message before it is stored by now, but the bus message about it was lost: read that first.
  if (state.view !== null && of.messageId !== state.view.of.messageId && !isOver(state, of))
    return readHead(deferFrame(state, { kind: 'checked_frame', frame }));
  return applyFrame(state, frame, now);
}

/** Takes a frame once all that was stored before it was delivered. */
export function applyFrame(state: FeedState, frame: DeltaFrame, now: number): FeedStep {
  if (state.check !== null) return defer(state, state.check, { kind: 'frame', frame });
  const of = answerOf(frame);
  if (isOver(state, of) || of.epoch < state.holder.epoch) return step(state);
  if (state.isBlind && of.messageId !== state.view?.of.messageId) return check(state, frame);
  return followFrame(state, frame, now);
}

function followFrame(before: FeedState, frame: DeltaFrame, now: number): FeedStep {
  const epoch = Math.max(before.holder.epoch, answerOf(frame).epoch);
  const state = epoch === before.holder.epoch ? before : { ...before, holder: { ...before.holder, epoch } };
  const outcome = follow(state.contextId, state.view, frame);
  switch (outcome.kind) {
    case 'applied': {
      const { view, events } = outcome;
      return step({ ...state, view, isMissing: false }, { kind: 'broadcast', events });
    }
    case 'missed':
      return ask({ ...state, isMissing: true }, now);
    case 'stale':
      return step(state);
  }
}

/** Finds out whether the message of the frame is stored already: then the frame is late. */
function check(state: FeedState, frame: DeltaFrame): FeedStep {
  const { messageId } = answerOf(frame);
  const deferred: FeedEvent[] = [{ kind: 'frame', frame }];
  return step({ ...state, check: { messageId, tail: state.tail, deferred } }, { kind: 'check', messageId });
}

export function takeCheck(state: FeedState, isStored: boolean): FeedStep {
  if (state.check === null) return step(state);
  const { messageId, tail, deferred } = state.check;
  const known = isStored ? withOver(state, messageId) : state;
  // If the tail has moved meanwhile, the message may be stored by now.
  const isBlind = state.isBlind && (isStored || tail !== state.tail);
  return step({ ...known, isBlind, check: null }, { kind: 'continue', events: deferred });
}

/** Takes the event after the check. */
export function defer(state: FeedState, pending: Check, event: FeedEvent): FeedStep {
  return step({ ...state, check: { ...pending, deferred: [...pending.deferred, event] } });
}

/** Brings a subscriber up to date with the partial message. */
export function join(state: FeedState, subscriber: Subscriber, now: number): FeedStep {
  const { view, holder } = state;
  if (view === null || view.void || view.of.epoch !== holder.epoch) return ask(state, now);
  return step(state, { kind: 'send', subscriber, events: catchUp(state.contextId, view) });
}
