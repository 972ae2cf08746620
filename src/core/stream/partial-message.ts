/**
 * The partial message: the text a model has streamed so far. The run publishes every change as a delta frame, and
 * frames can be lost. `follow` maintains a subscriber's view and detects missing frames. Pure.
 */
import type { ContextId, JobId, MessageId } from '../ids.ts';
import type { FleetingState } from '../run/state.ts';
import { toIso, type Millis } from '../time.ts';
import type { FleetingEvent } from './stream-event.ts';

/** Identifies one model call: the message it produces, the job, the attempt and the lease epoch. */
export type AnswerId = { jobId: JobId; messageId: MessageId; attempt: number; epoch: number };

/** A text, and the number of the last delta it includes; -1: none yet. */
export type StreamedText = { text: string; sequence: number };

export type PartialMessage = {
  of: AnswerId;
  state: FleetingState;
  /** When the first token arrived. */
  firstTokenAt: Millis;
  text: StreamedText;
  thinking: StreamedText;
};

type Delta = { of: AnswerId; channel: 'text' | 'thinking'; delta: string; sequence: number };

export type DeltaFrame =
  /** The first byte arrived. */
  | { kind: 'began'; of: AnswerId; at: Millis }
  | ({ kind: 'delta' } & Delta)
  /** The provider's terminal event arrived: no deltas follow. */
  | { kind: 'ended'; of: AnswerId; textSequence: number; thinkingSequence: number }
  /** The call failed: its text so far is void. */
  | { kind: 'broke'; of: AnswerId }
  | { kind: 'snapshot'; partial: PartialMessage };

/**
 * `whole`: the view has all text of the answer. `void`: the text is invalid, but subscribers have received it.
 * `behind`: subscribers still show text of an earlier attempt, because this attempt has sent no text yet.
 */
export type View = PartialMessage & { whole: boolean; void: boolean; behind: boolean };

type FrameOutcome =
  | { kind: 'applied'; view: View; events: FleetingEvent[] }
  /** An earlier frame is missing: a snapshot is needed. */
  | { kind: 'missed' }
  /** Already applied, or for an older answer. */
  | { kind: 'stale' };

export function answerOf(frame: DeltaFrame): AnswerId {
  return frame.kind === 'snapshot' ? frame.partial.of : frame.of;
}

export function follow(contextId: ContextId, view: View | null, frame: DeltaFrame): FrameOutcome {
  const order = view === null ? 1 : compare(answerOf(frame), view.of);
  if (order < 0) return { kind: 'stale' };
  if (view === null || order > 0) return meet(contextId, view, frame);
  return goOn(contextId, view, frame);
}

/** The first frame of an answer. */
function meet(contextId: ContextId, before: View | null, frame: DeltaFrame): FrameOutcome {
  switch (frame.kind) {
    case 'began': {
      const { of, at: firstTokenAt } = frame;
      const none = { text: '', sequence: -1 };
      const partial: PartialMessage = {
        of,
        state: 'StreamingLLMResponse',
        firstTokenAt,
        text: none,
        thinking: none,
      };
      const view = viewOf(partial, isShown(before, of));
      return { kind: 'applied', view, events: [stateChanged(contextId, view)] };
    }
    case 'snapshot': {
      const { partial } = frame;
      const view = viewOf(partial, isShown(before, partial.of));
      return { kind: 'applied', view, events: catchUp(contextId, view) };
    }
    case 'delta':
    case 'ended':
      return { kind: 'missed' };
    case 'broke':
      return { kind: 'stale' };
  }
}

function viewOf(partial: PartialMessage, isBehind: boolean): View {
  return { ...partial, whole: isWhole(partial), void: false, behind: isBehind && partial.text.sequence < 0 };
}

/** Whether subscribers show text of an earlier attempt at the same message. */
function isShown(view: View | null, of: AnswerId): boolean {
  return view?.of.messageId === of.messageId && (view.behind || view.text.sequence >= 0);
}

/** A further frame of the known answer. */
function goOn(contextId: ContextId, view: View, frame: DeltaFrame): FrameOutcome {
  switch (frame.kind) {
    case 'began':
      return { kind: 'stale' };
    case 'delta':
      return takeDelta(contextId, view, frame);
    case 'ended': {
      const { textSequence, thinkingSequence } = frame;
      if (view.void || textSequence > view.text.sequence || thinkingSequence > view.thinking.sequence)
        return { kind: 'missed' };
      if (view.whole) return { kind: 'stale' };
      const next: View = { ...view, state: 'ProcessingLLMResponse', whole: true };
      return { kind: 'applied', view: next, events: [stateChanged(contextId, next)] };
    }
    case 'broke':
      return view.void ? { kind: 'stale' } : { kind: 'applied', view: voided(view), events: [] };
    case 'snapshot':
      return takeSnapshot(contextId, view, frame.partial);
  }
}

function takeDelta(contextId: ContextId, view: View, frame: Delta): FrameOutcome {
  const { channel, delta, sequence } = frame;
  const before = view[channel];
  if (sequence <= before.sequence) return { kind: 'stale' };
  if (view.void || sequence > before.sequence + 1) return { kind: 'missed' };
  const behind = view.behind && channel !== 'text';
  const next: View = { ...view, behind, [channel]: { text: before.text + delta, sequence } };
  return { kind: 'applied', view: next, events: [deltaOf(contextId, frame)] };
}

function takeSnapshot(contextId: ContextId, view: View, partial: PartialMessage): FrameOutcome {
  const { text, thinking } = partial;
  if (text.sequence < view.text.sequence || thinking.sequence < view.thinking.sequence) return { kind: 'stale' };
  if (view.whole && !isWhole(partial) && text.sequence === view.text.sequence) return { kind: 'stale' };
  const next = viewOf(partial, view.behind);
  const more = thinking.text.startsWith(view.thinking.text)
    ? thinking.text.slice(view.thinking.text.length)
    : thinking.text;
  const events = [
    ...(view.void || partial.state !== view.state ? [stateChanged(contextId, next)] : []),
    ...(thinking.sequence > view.thinking.sequence && more !== '' ? [thought(contextId, partial, more)] : []),
    ...(view.void || text.sequence > view.text.sequence ? snapshotOf(contextId, next) : []),
  ];
  return events.length === 0 && next.whole === view.whole ? { kind: 'stale' } : { kind: 'applied', view: next, events };
}

/** The events for a subscriber that joins during the answer. */
export function catchUp(contextId: ContextId, view: View): FleetingEvent[] {
  if (view.void) return [];
  const { thinking } = view;
  return [
    stateChanged(contextId, view),
    ...(thinking.sequence >= 0 ? [thought(contextId, view, thinking.text)] : []),
    ...snapshotOf(contextId, view),
  ];
}

/** Marks an answer that subscribers have received as void. */
export function voided(view: View): View {
  return { ...view, void: true, whole: false };
}

/** Whether the published text equals the text that will be stored. */
export function isSettled({ whole, behind }: View): boolean {
  return whole && !behind;
}

/**
 * The events to send before a message counts as completed, so that the published text equals `text`. `attempt`: that
 * of the answer that became the message; null: unknown.
 */
export function amend(contextId: ContextId, view: View, text: string, attempt: number | null): FleetingEvent[] {
  if (!view.void && !view.behind && view.text.text === text) return [];
  const of = { ...view.of, attempt: Math.max(view.of.attempt, attempt ?? 0) };
  return snapshotOf(contextId, { ...view, of, text: { text, sequence: view.text.sequence + 1 } });
}

/** Ordered by lease epoch, then by attempt. Another message under the same lease is newer. */
function compare(a: AnswerId, b: AnswerId): number {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  return a.messageId === b.messageId ? a.attempt - b.attempt : 1;
}

function isWhole({ state }: PartialMessage): boolean {
  return state === 'ProcessingLLMResponse';
}

function stateChanged(contextId: ContextId, { of, state, firstTokenAt }: PartialMessage): FleetingEvent {
  const data = {
    context_id: contextId,
    new_state: state,
    job_id: of.jobId,
    first_token_at: toIso(firstTokenAt),
  };
  return { seq: null, name: 'StateChanged', data };
}

/** Thinking that the subscriber has not received. */
function thought(contextId: ContextId, { of, thinking }: PartialMessage, delta: string): FleetingEvent {
  return deltaOf(contextId, { of, channel: 'thinking', delta, sequence: thinking.sequence });
}

function deltaOf(contextId: ContextId, { of, channel, delta, sequence }: Delta): FleetingEvent {
  const { messageId, attempt } = of;
  const name = channel === 'text' ? 'ContentDelta' : 'ThinkingDelta';
  const data = { context_id: contextId, message_id: messageId, attempt, delta, sequence };
  return { seq: null, name, data };
}

function snapshotOf(contextId: ContextId, { of, text }: PartialMessage): FleetingEvent[] {
  if (text.sequence < 0) return [];
  const { messageId, attempt } = of;
  const data = {
    context_id: contextId,
    message_id: messageId,
    attempt,
    text: text.text,
    sequence: text.sequence,
  };
  return [{ seq: null, name: 'ContentSnapshot', data }];
}
