/**
 * The state of a context feed as a value: what happens to it (`FeedEvent`), and what has to be done then (`FeedEffect`).
 * The files of this folder are pure; `../context-feed.ts` carries out the effects.
 */
import type { Progress } from '../../bus/bus.ts';
import type { ContextId, MessageId, ProcessId } from '../../core/ids.ts';
import type { AnswerId, DeltaFrame, View } from '../../core/stream/partial-message.ts';
import type { ProgressFrame } from '../../core/stream/call-progress.ts';
import type { FleetingEvent, NumberedEvent } from '../../core/stream/stream-event.ts';
import type { Subscriber } from '../subscriber.ts';

/** The process that writes the context, and its lease epoch. */
export type Holder = { owner: ProcessId | null; epoch: number };

export type Head = Holder & { headSeq: number };

export type StoredText = { text: string; attempt: number | null };

/** What is being read from PostgreSQL. `upTo`: the highest `headSeq` that was known when the page was requested. */
type Reading =
  | { kind: 'head' }
  | { kind: 'page'; upTo: number }
  /** The text of the partial message, which the page completes. */
  | { kind: 'answer'; upTo: number; page: readonly NumberedEvent[] };

/** Whether the message of a frame is stored already. `deferred`: what arrived meanwhile, in order. */
export type Check = { messageId: MessageId; tail: number; deferred: readonly FeedEvent[] };

export type FeedState = {
  contextId: ContextId;
  /** All attached subscribers have everything up to it; -1: the head of the context was not read yet. */
  tail: number;
  /** The highest known `headSeq`. */
  known: number;
  isSubscribed: boolean;
  holder: Holder;
  view: View | null;
  /** Messages and jobs that have ended: later frames of them are late. */
  over: readonly unknown[];
  /** The tail passed entries that were not read: the message of the next frame may be stored already. */
  isBlind: boolean;
  check: Check | null;
  reading: Reading | null;
  /** Frames that arrived while PostgreSQL was read. */
  deferredFrames: readonly FrameEvent[];
  /** A snapshot is needed, and no request for it was sent yet. */
  isMissing: boolean;
  askedAt: number;
};

export type FrameEvent =
  | { kind: 'frame'; frame: DeltaFrame }
  /** The head was read after the frame arrived: all that was stored before it was delivered. */
  | { kind: 'checked_frame'; frame: DeltaFrame }
  /** A tool reported how far its call is. */
  | { kind: 'call_progress'; frame: ProgressFrame };

export type FeedEvent =
  | { kind: 'attached'; subscriber: Subscriber; position: number }
  /** The tail has reached the position of the subscriber. */
  | { kind: 'joined'; subscriber: Subscriber }
  | { kind: 'detached'; isLast: boolean }
  | { kind: 'progress'; progress: Progress }
  | FrameEvent
  /** The stream hub has read the head. */
  | { kind: 'polled'; head: Head }
  /** Bus messages may have been lost. */
  | { kind: 'lost' }
  /** The context was deleted, or the process closes. */
  | { kind: 'ended' }
  | { kind: 'head_read'; head: Head | null }
  | { kind: 'page_read'; page: readonly NumberedEvent[] }
  | { kind: 'answer_read'; stored: StoredText | null }
  | { kind: 'read_failed' }
  | { kind: 'checked'; isStored: boolean };

export type FeedEffect =
  /** To all subscribers that have everything before. */
  | { kind: 'broadcast'; events: readonly FleetingEvent[] }
  /** To each subscriber from its position on. For each that the tail reaches, `joined` is the next event. */
  | { kind: 'deliver'; entries: readonly NumberedEvent[]; tail: number }
  | { kind: 'send'; subscriber: Subscriber; events: readonly FleetingEvent[] }
  /** Requests a snapshot from the process that holds the context. */
  | { kind: 'ask'; owner: ProcessId }
  | { kind: 'count_resync' }
  /** Each read is answered by one event: `head_read`, `page_read`, `answer_read`, or `read_failed`. */
  | { kind: 'read_head' }
  | { kind: 'read_page'; after: number }
  | { kind: 'read_answer'; messageId: MessageId }
  /** Answered by `checked`. */
  | { kind: 'check'; messageId: MessageId }
  /** These events are next, in order. */
  | { kind: 'continue'; events: readonly FeedEvent[] }
  | { kind: 'end' };

/** The effects are carried out in order, each with all that follows from it before the next. */
export type FeedStep = { state: FeedState; effects: readonly FeedEffect[] };

export function newFeed(contextId: ContextId): FeedState {
  return {
    contextId,
    tail: -1,
    known: -1,
    isSubscribed: false,
    holder: { owner: null, epoch: -1 },
    view: null,
    over: [],
    isBlind: true,
    check: null,
    reading: null,
    deferredFrames: [],
    isMissing: false,
    askedAt: -Infinity,
  };
}

export function step(state: FeedState, ...effects: FeedEffect[]): FeedStep {
  return { state, effects };
}

/** Continues with the state of a step. */
export function andThen({ state, effects }: FeedStep, next: (state: FeedState) => FeedStep): FeedStep {
  const after = next(state);
  return { state: after.state, effects: [...effects, ...after.effects] };
}

export function isOver({ over }: FeedState, { messageId, jobId }: AnswerId): boolean {
  return over.includes(messageId) || over.includes(jobId);
}

/** Ended items that are remembered: enough to recognize frames that arrive late. */
const MOST_OVER = 32;

export function withOver(state: FeedState, item: unknown): FeedState {
  return state.over.includes(item) ? state : { ...state, over: [...state.over, item].slice(-MOST_OVER) };
}
