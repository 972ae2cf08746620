/**
 * A part of history as text for a summarising model: one JSON object per line, so that message text cannot be
 * mistaken for structure. Very long texts are clipped to their beginning and end.
 */
import { isToolResult, isToolUse, textOf, type Block, type ToolResultBlock } from '../conversation/blocks.ts';
import type { ToolCallId } from '../ids.ts';
import type { Message } from '../conversation/message.ts';

/** One line per message. `longest`: maximum characters of one text. */
export function transcriptLines(messages: readonly Message[], longest: number): string[] {
  const names = new Map<ToolCallId, string>();
  return messages.map((message) => {
    for (const { id, name } of message.content.filter(isToolUse)) names.set(id, name);
    return JSON.stringify(lineOf(message, names, longest));
  });
}

function lineOf({ role, turn, content }: Message, names: ReadonlyMap<ToolCallId, string>, longest: number) {
  const text = [textOf(content), ...content.flatMap(described)].filter((part) => part !== '').join('\n');
  const calls = content.filter(isToolUse).map(({ name, input }) => {
    return { name, input: clipped(JSON.stringify(input), longest) };
  });
  const results = content.filter(isToolResult).map((result) => ({
    of: names.get(result.tool_use_id) ?? 'a tool',
    ...(result.is_error ? { failed: true } : {}),
    result: clipped(resultText(result), longest),
  }));
  return {
    turn,
    role,
    ...(text === '' ? {} : { text: clipped(text, longest) }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(results.length === 0 ? {} : { results }),
  };
}

function described(block: Block): string[] {
  switch (block.type) {
    case 'image':
      return ['(an image)'];
    case 'document':
      return [`(a document${block.title === undefined ? '' : `: ${block.title}`})`];
    case 'text':
    case 'thinking':
    case 'tool_use':
    case 'tool_result':
      return [];
  }
}

function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return [textOf(content), ...content.flatMap(described)].filter((part) => part !== '').join('\n');
}

/** Clips the middle of a longer text: beginning, marker and end together are at most `longest` characters. */
export function clipped(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const gap = ` … (${text.length} characters in all) … `;
  const half = Math.floor((longest - gap.length) / 2);
  return half > 0 ? `${text.slice(0, half)}${gap}${text.slice(-half)}` : text.slice(0, Math.max(0, longest));
}
