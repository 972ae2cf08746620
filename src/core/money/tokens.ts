/**
 * Estimates the tokens of content in a prompt: a quarter of its characters, and a fixed number for content that is
 * not text. Only providers count exactly, each in its own way; their counts are used where known (see
 * `compaction/sizes.ts`).
 */
import type { Block, ResultPart, Source } from '../conversation/blocks.ts';

/** Of one image of any size: about one megapixel. */
const IMAGE = 1_600;
/** Of a document known only by its URL. */
const LINKED = 3_000;
/** Base64 characters of a document per token: a document holds much more than its text. */
const DOCUMENT_CHARACTERS = 40;
/** Overhead of a block. */
const FRAME = 4;

export function textTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function jsonTokens(value: unknown): number {
  return textTokens(JSON.stringify(value) ?? '');
}

export function blocksTokens(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + FRAME + blockTokens(block), 0);
}

function blockTokens(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return textTokens(block.text);
    case 'tool_use':
      return textTokens(block.name) + jsonTokens(block.input);
    case 'tool_result':
      return resultTokens(block.content);
    case 'image':
      return IMAGE;
    case 'document':
      return documentTokens(block.source);
  }
}

function resultTokens(content: string | readonly ResultPart[]): number {
  if (typeof content === 'string') return textTokens(content);
  return content.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : IMAGE), 0);
}

function documentTokens(source: Source): number {
  switch (source.type) {
    case 'base64':
      return Math.ceil(source.data.length / DOCUMENT_CHARACTERS);
    case 'url':
      return LINKED;
  }
}
