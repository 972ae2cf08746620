/**
 * Reads from PostgreSQL, one at a time: the head of the context, or the entries between the tail and the highest known
 * number. Frames that arrive meanwhile are taken afterwards.
 */
import { amend } from '../../core/stream/partial-message.ts';
import type { NumberedEvent } from '../../core/stream/stream-event.ts';
import { deliver, unfinished } from './entries.ts';
import { andThen, step, type FeedState, type FeedStep, type FrameEvent, type Head, type StoredText } from './state.ts';

/** Entries per query. */
export const PAGE = 500;

/** Delta frames kept while PostgreSQL is read. Beyond that the feed requests a snapshot. */
const MOST_DEFERRED_FRAMES = 1_000;

export function readHead(state: FeedState): FeedStep {
  if (state.reading !== null) return step(state);
  return step({ ...state, reading: { kind: 'head' } }, { kind: 'read_head' });
}

export function takeHead(state: FeedState, head: Head | null): FeedStep {
  if (head === null) return end({ ...state, reading: null });
  const known = Math.max(state.known, head.headSeq);
  const after = { ...state, reading: null };
  return known > state.tail ? readTo(after, known) : release(after);
}

export function readTo(state: FeedState, headSeq: number): FeedStep {
  const after = { ...state, known: Math.max(state.known, headSeq) };
  if (after.reading !== null) return step(after);
  return andThen(step(after, { kind: 'count_resync' }), readOn);
}

export function takePage(state: FeedState, page: readonly NumberedEvent[]): FeedStep {
  const { reading } = state;
  if (reading?.kind !== 'page') return step(state);
  const view = unfinished(state, page);
  if (view === null) return deliverPage(state, page, reading.upTo);
  const { messageId } = view.of;
  return step({ ...state, reading: { kind: 'answer', upTo: reading.upTo, page } }, { kind: 'read_answer', messageId });
}

export function takeAnswer(state: FeedState, stored: StoredText | null): FeedStep {
  const { reading } = state;
  if (reading?.kind !== 'answer') return step(state);
  const view = unfinished(state, reading.page);
  const events = view === null || stored === null ? [] : amend(state.contextId, view, stored.text, stored.attempt);
  return andThen(step(state, { kind: 'broadcast', events }), (after) => deliverPage(after, reading.page, reading.upTo));
}

/** PostgreSQL is unavailable: the stream hub asks again. */
export function giveUp(state: FeedState): FeedStep {
  return release({ ...state, known: state.tail, reading: null });
}

export function end(state: FeedState): FeedStep {
  return step({ ...state, isSubscribed: false }, { kind: 'end' });
}

/** Takes the frame after the read. */
export function deferFrame(state: FeedState, frame: FrameEvent): FeedState {
  const deferredFrames = [...state.deferredFrames, frame];
  return deferredFrames.length <= MOST_DEFERRED_FRAMES
    ? { ...state, deferredFrames }
    : { ...state, deferredFrames: [], isMissing: true };
}

function deliverPage(state: FeedState, page: readonly NumberedEvent[], upTo: number): FeedStep {
  const last = page.at(-1)?.seq ?? 0;
  const tail = page.length < PAGE ? Math.max(upTo, last) : last;
  return andThen(deliver(state, page, tail), readOn);
}

function readOn(state: FeedState): FeedStep {
  const { tail, known } = state;
  if (tail >= known) return release({ ...state, reading: null });
  if (state.isSubscribed)
    return step({ ...state, reading: { kind: 'page', upTo: known } }, { kind: 'read_page', after: tail });
  // Subscribers that are about to attach read these entries themselves.
  return release({ ...state, tail: known, isBlind: true, view: null, reading: null });
}

/** Takes the frames that arrived while PostgreSQL was read. */
function release(state: FeedState): FeedStep {
  const { deferredFrames } = state;
  return step({ ...state, deferredFrames: [] }, { kind: 'continue', events: deferredFrames });
}
