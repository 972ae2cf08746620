/** The position in the script for a prompt: the last input, and the number of answers since. Pure. */
import { textOf, type ToolResultBlock } from '../../core/conversation/blocks.ts';
import type { PromptMessage } from '../../core/conversation/prompt.ts';

export type Scene = {
  /** The text of the last input. */
  input: string;
  /** Assistant messages since then: the index of the next step. */
  step: number;
  /** Tool results in the last message. */
  results: ToolResultBlock[];
};

export function readScene(messages: readonly PromptMessage[]): Scene {
  const at = messages.findLastIndex((message) => inputIn(message) !== null);
  const input = messages[at];
  const last = messages.at(-1);
  return {
    input: input === undefined ? '' : (inputIn(input) ?? ''),
    step: messages.slice(at + 1).filter((message) => message.role === 'assistant').length,
    results: last?.role === 'user' ? last.content.filter((block) => block.type === 'tool_result') : [],
  };
}

/** Unanswered inputs are merged into one message: its last text is the script. */
function inputIn(message: PromptMessage): string | null {
  if (message.role !== 'user') return null;
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.findLast((text) => !text.startsWith('<system-note>')) ?? null;
}

export function resultText({ content }: ToolResultBlock): string {
  return typeof content === 'string' ? content : textOf(content);
}
