/**
 * The events of a context's stream; stored and live events have the same shape. A numbered event is a stored event or
 * a message that entered history; an event without a number is fleeting. See docs/streams.md.
 */
import type { Append, Entry } from '../run/append.ts';
import type { ContextId, MessageId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { MessageRole, MessageType } from '../conversation/message.ts';
import type { Turn } from '../conversation/turn.ts';

export type NumberedEvent = { seq: number; name: string; data: JsonObject };

export type FleetingEvent = { seq: null; name: string; data: JsonObject };

export type StreamEvent = NumberedEvent | FleetingEvent;

/** The fields of a message that the stream carries; clients fetch the rest. */
type Completed = { id: MessageId; seq: number; turn: Turn; role: MessageRole; type: MessageType };

export const MESSAGE_COMPLETED = 'MessageCompleted';

export function messageCompleted(contextId: ContextId, { id, seq, turn, role, type }: Completed): NumberedEvent {
  return {
    seq,
    name: MESSAGE_COMPLETED,
    data: { context_id: contextId, message_id: id, seq, turn, role, type },
  };
}

export function storedEvent(contextId: ContextId, seq: number, name: string, data: JsonObject): NumberedEvent {
  return { seq, name, data: { context_id: contextId, ...data } };
}

export function streamEventsOf({ lease: { contextId }, entries }: Append, firstSeq: number): NumberedEvent[] {
  return entries.map((entry, index) => streamEventOf(contextId, entry, firstSeq + index));
}

function streamEventOf(contextId: ContextId, entry: Entry, seq: number): NumberedEvent {
  switch (entry.kind) {
    case 'message':
      return messageCompleted(contextId, { ...entry.message, seq });
    case 'admit': {
      const { messageId: id, turn } = entry;
      return messageCompleted(contextId, { id, seq, turn, role: 'user', type: 'text' });
    }
    case 'event':
      return storedEvent(contextId, seq, entry.event.name, entry.event.data);
  }
}
