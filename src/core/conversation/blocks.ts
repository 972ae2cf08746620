/**
 * Content blocks: one shape for all providers. What a provider must get back verbatim (signatures, encrypted
 * reasoning, item ids) is in the opaque `provider` field and is sent only to the provider named there.
 */
import type { ToolCallId } from '../ids.ts';
import type { Json } from '../json.ts';

/**
 * Sent back verbatim to provider `name` and to no other. `model`: the model that produced it, where that matters
 * (reasoning).
 */
export type Opaque = { name: string; data: Json; model?: string };

/** A piece of text. */
export type TextBlock = {
  /** The kind of the block. */
  type: 'text';
  /** The text itself. */
  text: string;
  /** What the provider must get back with it. */
  provider?: Opaque;
};

/** Reasoning. With an empty `text`, it carries only the data the provider needs back. */
export type ThinkingBlock = { type: 'thinking'; text: string; provider?: Opaque };

/** `input` is what the model sent: normally an object; the raw string if it was not valid JSON. */
export type ToolUseBlock = { type: 'tool_use'; id: ToolCallId; name: string; input: Json; provider?: Opaque };

export type ToolResultBlock = {
  type: 'tool_result';
  tool_use_id: ToolCallId;
  content: string | ResultPart[];
  is_error: boolean;
  /** Replaces the result in the prompt once it is compacted. */
  compact_summary?: string;
};

/** A part of the result of a tool: text or an image. */
export type ResultPart = TextBlock | ImageBlock;

export type Source = { type: 'base64'; media_type: string; data: string } | { type: 'url'; url: string };
/** An image. */
export type ImageBlock = {
  /** The kind of the block. */
  type: 'image';
  /** Its data in base64, or its URL. */
  source: Source;
};
export type DocumentBlock = { type: 'document'; source: Source; title?: string };

export type Block = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock | DocumentBlock;

/** What a client may post: no thinking and no tool blocks. */
export type InputBlock = TextBlock | ImageBlock | DocumentBlock;

export function isToolUse(block: Block): block is ToolUseBlock {
  return block.type === 'tool_use';
}

export function isToolResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool_result';
}

/** Marks reasoning with the model that produced it: only that model can read its encrypted part. */
export function markThought(block: Block, model: string): Block {
  return block.type === 'thinking' && block.provider !== undefined
    ? { ...block, provider: { ...block.provider, model } }
    : block;
}

/** The visible text of the blocks, joined into one string. */
export function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
