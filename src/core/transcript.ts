/**
 * Reads a transcript that came from elsewhere, entry by entry in its order, and says what is wrong with it; and which calls
 * are left without a result, with what stands for it.
 */
import { isToolResult, isToolUse } from './blocks.ts';
import type { Block, ToolResultBlock } from './blocks.ts';
import type { ToolCallId } from './ids.ts';
import type { MessageRole, MessageType } from './message.ts';
import { parseTurn } from './turn.ts';
import type { Turn } from './turn.ts';

export type TranscriptMessage = {
  branch: string;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  status: 'completed' | 'retracted';
  content: readonly Block[];
};

/** A result that is to be written behind the transcript. */
export type LackingResult = { branch: string; turn: Turn; result: ToolResultBlock };

/** What the model is told of a call that was under way when its context was copied. */
const NOT_CARRIED = 'No result was recorded before this conversation was imported. It may have happened.';

const HOLDS: Readonly<Record<MessageRole, readonly Block['type'][]>> = {
  user: ['text', 'image', 'document'],
  assistant: ['text', 'thinking', 'tool_use'],
  tool: ['tool_result'],
  system: ['text'],
};

export class Transcript {
  readonly #open = new Map<ToolCallId, { branch: string; turn: Turn }>();
  readonly #requested = new Set<ToolCallId>();

  /** What is wrong with the next message, in words that follow its name; null: nothing. */
  take({ branch, role, type, turn, status, content }: TranscriptMessage): string | null {
    const side = parseTurn(turn)?.side;
    if (role === 'user' && side !== 'u') return `is of a user, but its turn is ${turn}`;
    if ((role === 'assistant' || role === 'tool') && side !== 'a')
      return `is of an answer, but its turn is ${turn}`;
    if ((role === 'tool') !== (type === 'tool_result')) return `has the role ${role} and the type ${type}`;
    const odd = content.find((block) => !HOLDS[role].includes(block.type));
    if (odd !== undefined) return `has the role ${role} and holds a block of type ${odd.type}`;
    for (const { id } of content.filter(isToolUse)) {
      if (this.#requested.has(id)) return `asks for the call ${id} a second time`;
      this.#requested.add(id);
      if (status === 'completed') this.#open.set(id, { branch, turn });
    }
    for (const { tool_use_id: id } of content.filter(isToolResult)) {
      if (!this.#requested.has(id)) return `holds a result of the call ${id}, which nobody asked for before`;
      if (status === 'completed') this.#open.delete(id);
    }
    return null;
  }

  lacking(): LackingResult[] {
    return [...this.#open].map(([id, place]) => ({
      ...place,
      result: { type: 'tool_result', tool_use_id: id, content: NOT_CARRIED, is_error: true },
    }));
  }
}
