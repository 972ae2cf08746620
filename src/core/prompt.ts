/**
 * From stored history to a prompt that every provider accepts: system text apart, then `user` and `assistant` by turns,
 * beginning with `user`; every `tool_use` answered by exactly one `tool_result` in the very next `user` message, in the
 * order of the calls, before anything else there. What history lacks is written by rule; what it has too much is dropped.
 */
import { isToolResult, isToolUse } from './blocks.ts';
import type {
  Block,
  DocumentBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from './blocks.ts';
import type { ToolCallId } from './ids.ts';
import type { Message } from './message.ts';

export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock;

export type PromptMessage =
  | { role: 'user'; content: UserBlock[] }
  | { role: 'assistant'; content: AssistantBlock[] };

/** Stands first where history begins with an answer: providers want a `user` message first. */
const OPENING = '(The conversation so far began with the assistant.)';

/** For a `tool_use` whose result is missing from history altogether: an unanswered call is never sent. */
const NO_RESULT = 'No result was recorded for this call.';

/** Pure; linear in the length of history. */
export function assemble(history: readonly Message[]): PromptMessage[] {
  const results = resultsByCall(history);
  const prompt: PromptMessage[] = [];
  for (const message of history) {
    switch (message.role) {
      case 'assistant':
        addAnswer(prompt, message, results);
        break;
      case 'user':
        addUser(prompt, message.content.filter(isUserContent));
        break;
      case 'system':
        addUser(prompt, message.content.filter(isNoteText).map(asNote));
        break;
      case 'tool':
        // Already placed behind the call it answers.
        break;
    }
  }
  return prompt;
}

function resultsByCall(history: readonly Message[]): Map<ToolCallId, ToolResultBlock> {
  const results = new Map<ToolCallId, ToolResultBlock>();
  for (const message of history) {
    if (message.role !== 'tool') continue;
    for (const block of message.content) {
      if (isToolResult(block) && !results.has(block.tool_use_id)) results.set(block.tool_use_id, block);
    }
  }
  return results;
}

function addAnswer(
  prompt: PromptMessage[],
  message: Message,
  results: Map<ToolCallId, ToolResultBlock>,
): void {
  const content = message.content.filter(isAssistantContent).filter(isNotEmpty);
  if (content.length === 0) return;
  const last = prompt.at(-1);
  if (last === undefined) prompt.push({ role: 'user', content: [{ type: 'text', text: OPENING }] });
  if (last?.role === 'assistant') last.content.push(...content);
  else prompt.push({ role: 'assistant', content });
  const answers = content.filter(isToolUse).map((call) => results.get(call.id) ?? missingResult(call));
  if (answers.length > 0) prompt.push({ role: 'user', content: answers });
}

function addUser(prompt: PromptMessage[], blocks: UserBlock[]): void {
  const content = blocks.filter(isNotEmpty);
  if (content.length === 0) return;
  const last = prompt.at(-1);
  if (last?.role === 'user') last.content.push(...content);
  else prompt.push({ role: 'user', content });
}

function missingResult(call: ToolUseBlock): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: call.id, content: NO_RESULT, is_error: true };
}

/** A note of the platform's own, told apart from what the user wrote. */
function asNote(block: TextBlock): TextBlock {
  return { type: 'text', text: `<system-note>${block.text}</system-note>` };
}

/** Providers refuse empty text. */
function isNotEmpty(block: Block): boolean {
  return block.type !== 'text' || block.text !== '';
}

function isNoteText(block: Block): block is TextBlock {
  return block.type === 'text';
}

function isUserContent(block: Block): block is TextBlock | ImageBlock | DocumentBlock {
  return block.type === 'text' || block.type === 'image' || block.type === 'document';
}

function isAssistantContent(block: Block): block is AssistantBlock {
  return block.type === 'text' || block.type === 'thinking' || block.type === 'tool_use';
}
