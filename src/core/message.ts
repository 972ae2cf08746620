/** A message: one immutable entry of a context's history. */
import type { Block } from './blocks.ts';
import type { JobId, MessageId } from './ids.ts';
import { lastTurn } from './turn.ts';
import type { Turn } from './turn.ts';
import type { Usage } from './usage.ts';

export const MESSAGE_ROLES = ['user', 'assistant', 'system', 'tool'] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

export const MESSAGE_TYPES = ['text', 'plan', 'question', 'tool_call', 'tool_result'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Who made an assistant message, at what price in tokens. */
export type ModelMeta = {
  /** As the provider names the model. */
  modelId: string;
  /** Our name of the provider. */
  providerId: string;
  usage: Usage;
  finishReason: string;
};

export type Message = {
  id: MessageId;
  /** Its number in the context's one line of messages and events. */
  seq: number;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  content: Block[];
  jobId: JobId | null;
  /** Only on what a model made. */
  model: ModelMeta | null;
};

/** A message that is yet to be numbered. */
export type NewMessage = Omit<Message, 'seq'>;

/** The number of the last turn; 0 where there is none. A note of the platform's own is nobody's turn. */
export function lastTurnOf(history: readonly Pick<Message, 'role' | 'turn'>[]): number {
  return lastTurn(history.filter(({ role }) => role !== 'system').map(({ turn }) => turn));
}
