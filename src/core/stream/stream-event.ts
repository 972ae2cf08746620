/**
 * The events of a context's stream; stored and live events have the same shape. A numbered event is a stored event or
 * a message that entered history; an event without a number is fleeting. See docs/streams.md.
 */
import { textOf } from '../conversation/blocks.ts';
import type { MessageRole, MessageType } from '../conversation/message.ts';
import type { Turn } from '../conversation/turn.ts';
import { cut } from '../cut.ts';
import type { JobError } from '../errors.ts';
import type { ContextId, JobId, MessageId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Append, Committed, Entry } from '../run/append.ts';
import { toIso, type Millis } from '../time.ts';
import type { ContextEvent } from './event.ts';

export type NumberedEvent = { seq: number; name: string; data: JsonObject };

/** Its data gets the time at which it is sent. */
export type FleetingEvent = { seq: null; name: string; data: JsonObject };

export type StreamEvent = NumberedEvent | FleetingEvent;

/** The fields of a message that the stream carries; clients fetch the rest. */
type Stored = { id: MessageId; seq: number; turn: Turn; role: MessageRole; type: MessageType };

export const MESSAGE_COMPLETED = 'MessageCompleted';
export const MESSAGE_INCOMPLETE = 'MessageIncomplete';
export const JOB_FINISHED = 'JobFinished' satisfies ContextEvent['name'];

/** The event of a stored message. `at`: when it entered the history, or was stored beside it. */
export function messageStored(contextId: ContextId, message: Stored, at: Millis): NumberedEvent {
  const { id, seq, turn, role, type } = message;
  const data = { context_id: contextId, message_id: id, seq, turn, role, type, at: toIso(at) };
  return { seq, name: type === 'partial' ? MESSAGE_INCOMPLETE : MESSAGE_COMPLETED, data };
}

export function storedEvent(
  contextId: ContextId,
  { seq, name, data, at }: NumberedEvent & { at: Millis },
): NumberedEvent {
  return { seq, name, data: { context_id: contextId, ...data, at: toIso(at) } };
}

/** What `JobFinished` tells of the end of a job, beside what is stored with the event. */
export type Ending = { output: EndingOutput | null; error: JobError | null };

/** `text`: its beginning, if it is `truncated`. */
type EndingOutput = { message_id: MessageId; text: string; truncated: boolean };

/** UTF-16 units of an output's text that an event carries. */
export const SHOWN_OUTPUT = 4_000;

/** `text`: may be cut after the units that are shown. */
export function endingOutput(id: MessageId, text: string): EndingOutput {
  return { message_id: id, text: cut(text, SHOWN_OUTPUT), truncated: text.length > SHOWN_OUTPUT };
}

/** The members of the event for it. */
export function tellEnding({ output, error }: Ending): JsonObject {
  return { output, error: error === null ? null : { code: error.code, message: error.message } };
}

/** The entries of an append as they are read from the database. Null: they need what the append does not have. */
export function streamEventsOf(append: Append, { firstSeq, at }: Committed): NumberedEvent[] | null {
  const events = append.entries.map((entry, index) => streamEventOf(append, entry, firstSeq + index, at));
  const known = events.filter((event) => event !== null);
  return known.length === events.length ? known : null;
}

function streamEventOf(append: Append, entry: Entry, seq: number, at: Millis): NumberedEvent | null {
  const { contextId } = append.lease;
  switch (entry.kind) {
    case 'message':
      return messageStored(contextId, { ...entry.message, seq }, at);
    case 'partial': {
      const { id, turn } = entry;
      return messageStored(contextId, { id, seq, turn, role: 'assistant', type: 'partial' }, at);
    }
    case 'admit': {
      const { messageId: id, turn } = entry;
      return messageStored(contextId, { id, seq, turn, role: 'user', type: 'text' }, at);
    }
    case 'event': {
      const { name, data } = entry.event;
      if (name !== JOB_FINISHED) return storedEvent(contextId, { seq, name, data, at });
      const ending = endingIn(append, data.job_id);
      return ending && storedEvent(contextId, { seq, name, data: { ...data, ...tellEnding(ending) }, at });
    }
  }
}

/** Null: the append does not have the output. */
function endingIn({ job, entries }: Append, id: JobId): Ending | null {
  if (job?.kind !== 'settle' || job.job.id !== id) return null;
  const { outcome } = job;
  const error = 'error' in outcome ? outcome.error : null;
  const outputId = 'outputId' in outcome ? outcome.outputId : null;
  if (outputId === null) return { output: null, error };
  for (const entry of entries) {
    if (entry.kind === 'message' && entry.message.id === outputId)
      return { output: endingOutput(outputId, textOf(entry.message.content)), error };
  }
  return null;
}
