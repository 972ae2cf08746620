/** Assembles partial messages from the events of a stream. */
import type { StreamEvent } from './events.ts';

/** A message that a model is writing. */
export type PartialMessage = {
  /** The id that the message will have. */
  message_id: string;
  /** From 1, one more whenever the model call is started again: then the text begins again, too. */
  attempt: number;
  /** What it has of its text so far. */
  text: string;
  /** What it has of its reasoning so far. */
  thinking: string;
};

type State = PartialMessage & { sequence: number; thought: number; connection: number };

/**
 * Takes the events of one stream in order. Returns the current form of the message that an event changed, or null. A
 * higher attempt replaces lower ones, a snapshot replaces the text, and repeated deltas are ignored.
 */
export function textMaker(): (event: StreamEvent) => PartialMessage | null {
  const messages = new Map<string, State>();
  return (event) => {
    if (event.event === 'MessageCompleted' || event.event === 'MessageIncomplete')
      messages.delete(event.data.message_id);
    if (!isPiece(event)) return null;
    const { message_id, attempt } = event.data;
    const before = messages.get(message_id);
    if (before !== undefined && before.attempt > attempt) return null;
    const state = before?.attempt === attempt ? before : begin(message_id, attempt);
    messages.set(message_id, state);
    return change(state, event) ? show(state) : null;
  };
}

function begin(message_id: string, attempt: number): State {
  return { message_id, attempt, text: '', thinking: '', sequence: -1, thought: -1, connection: 0 };
}

type Piece = Extract<StreamEvent, { event: 'ContentDelta' | 'ThinkingDelta' | 'ContentSnapshot' }>;

function isPiece(event: StreamEvent): event is Piece {
  return ['ContentDelta', 'ThinkingDelta', 'ContentSnapshot'].includes(event.event);
}

function change(state: State, { event, data, connection }: Piece): boolean {
  switch (event) {
    case 'ContentSnapshot':
      state.text = data.text;
      state.sequence = data.sequence;
      return true;
    case 'ContentDelta':
      if (data.sequence <= state.sequence) return false;
      state.text += data.delta;
      state.sequence = data.sequence;
      return true;
    case 'ThinkingDelta': {
      // The first delta of a connection contains the whole thinking so far.
      const isWhole = state.connection !== connection;
      if (!isWhole && data.sequence <= state.thought) return false;
      state.thinking = isWhole ? data.delta : state.thinking + data.delta;
      state.thought = data.sequence;
      state.connection = connection;
      return true;
    }
  }
}

function show({ message_id, attempt, text, thinking }: State): PartialMessage {
  return { message_id, attempt, text, thinking };
}
