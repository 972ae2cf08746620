/**
 * Content blocks: our own shape, the same for every provider. What a provider needs back verbatim (signatures,
 * encrypted reasoning, item ids) rides in the opaque `provider` member and goes back only to the provider named there.
 */
import type { ToolCallId } from './ids.ts';
import type { Json } from './json.ts';

/** Sent back verbatim to provider `name`, and to no other. `model`: which one made it, where that matters (reasoning). */
export type Opaque = { name: string; data: Json; model?: string };

export type TextBlock = { type: 'text'; text: string; provider?: Opaque };

/** Reasoning. With an empty `text` it only carries what the provider wants back. */
export type ThinkingBlock = { type: 'thinking'; text: string; provider?: Opaque };

/** `input` is what the model sent: an object as a rule, the raw string where it was not JSON. */
export type ToolUseBlock = { type: 'tool_use'; id: ToolCallId; name: string; input: Json; provider?: Opaque };

export type ToolResultBlock = {
  type: 'tool_result';
  tool_use_id: ToolCallId;
  content: string | ResultPart[];
  is_error: boolean;
  /** What stands for the result once it is compacted. */
  compact_summary?: string;
};

export type ResultPart = TextBlock | ImageBlock;

export type Source = { type: 'base64'; media_type: string; data: string } | { type: 'url'; url: string };
export type ImageBlock = { type: 'image'; source: Source };
export type DocumentBlock = { type: 'document'; source: Source; title?: string };

export type Block = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock | DocumentBlock;

/** What a client may post: no thinking, no tool traffic. */
export type InputBlock = TextBlock | ImageBlock | DocumentBlock;

export function isToolUse(block: Block): block is ToolUseBlock {
  return block.type === 'tool_use';
}

export function isToolResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool_result';
}

/** What was thought is marked with the model that did: only that one can open what it sealed. */
export function markThought(block: Block, model: string): Block {
  return block.type === 'thinking' && block.provider !== undefined
    ? { ...block, provider: { ...block.provider, model } }
    : block;
}

/** The visible text of blocks, joined: an answer in one string. */
export function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
