/**
 * Validates an imported transcript entry by entry, in order. Reports calls that are left without a result, and a
 * result to add for each.
 */
import { isToolResult, isToolUse, type Block, type ToolResultBlock } from './blocks.ts';
import type { ToolCallId } from '../ids.ts';
import type { MessageRole, MessageType } from './message.ts';
import { parseTurn, type Turn } from './turn.ts';

type TranscriptMessage = {
  branch: string;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  status: 'completed' | 'retracted';
  content: readonly Block[];
};

/** A result to add at the end of the transcript. */
export type LackingResult = { branch: string; turn: Turn; result: ToolResultBlock };

/** The result for a call that was open when its context was exported. */
const NOT_CARRIED = 'No result was recorded before this conversation was imported. The call may have taken effect.';

const HOLDS: Readonly<Record<MessageRole, readonly Block['type'][]>> = {
  user: ['text', 'image', 'document'],
  assistant: ['text', 'thinking', 'tool_use'],
  tool: ['tool_result'],
  system: ['text'],
};

export class Transcript {
  readonly #open = new Map<ToolCallId, { branch: string; turn: Turn }>();
  readonly #requested = new Set<ToolCallId>();

  /** What is wrong with the next message, as text that follows its name; null: nothing. */
  take({ branch, role, type, turn, status, content }: TranscriptMessage): string | null {
    const side = parseTurn(turn)?.side;
    if (role === 'user' && side !== 'u') return `has the role user, but its turn is ${turn}`;
    if ((role === 'assistant' || role === 'tool') && side !== 'a')
      return `has the role ${role}, but its turn is ${turn}`;
    if ((role === 'tool') !== (type === 'tool_result')) return `has the role ${role} and the type ${type}`;
    const odd = content.find((block) => !HOLDS[role].includes(block.type));
    if (odd !== undefined) return `has the role ${role} and contains a block of type ${odd.type}`;
    for (const { id } of content.filter(isToolUse)) {
      if (this.#requested.has(id)) return `requests the call ${id} a second time`;
      this.#requested.add(id);
      if (status === 'completed') this.#open.set(id, { branch, turn });
    }
    for (const { tool_use_id: id } of content.filter(isToolResult)) {
      if (!this.#requested.has(id)) return `contains a result of the call ${id}, which no earlier message requests`;
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
