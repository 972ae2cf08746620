/** A message: one immutable entry of a context's history. */
import type { Block } from './blocks.ts';
import type { JobId, MessageId } from '../ids.ts';
import { lastTurn, type Turn } from './turn.ts';
import type { Usage } from '../money/usage.ts';

export const MESSAGE_ROLES = ['user', 'assistant', 'system', 'tool'] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/**
 * `correction`: a note of the platform with the faults of the answer before it, which does not match its schema.
 * `partial`: the text of an answer that the model did not finish. It is never part of the history.
 */
export const MESSAGE_TYPES = ['text', 'plan', 'question', 'tool_call', 'tool_result', 'correction', 'partial'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** The model that wrote an assistant message, and its token usage. */
export type ModelMeta = {
  /** The provider's name of the model. */
  modelId: string;
  /** Nightshift's name of the provider. */
  providerId: string;
  usage: Usage;
  finishReason: string;
};

export type Message = {
  id: MessageId;
  /** Its number in the context's single sequence of messages and events. */
  seq: number;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  content: Block[];
  jobId: JobId | null;
  /** Only for messages written by a model. */
  model: ModelMeta | null;
};

export type NewMessage = Omit<Message, 'seq'>;

/** The number of the last turn; 0 if there is none. `system` messages of the platform belong to no turn. */
export function lastTurnOf(history: readonly Pick<Message, 'role' | 'turn'>[]): number {
  return lastTurn(history.filter(({ role }) => role !== 'system').map(({ turn }) => turn));
}
