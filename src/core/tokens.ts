/**
 * How many tokens something has in a prompt, estimated: a quarter of its characters, and a flat number for what is not text.
 * Only providers know, each in its own way; what they said of a prompt is used where it is known (see
 * `compaction/sizes.ts`).
 */
import type { Block, ResultPart, Source } from './blocks.ts';
import type { Message } from './message.ts';

/** Of one image, whatever its size: about a megapixel. */
const IMAGE = 1_600;
/** Of a document that only its address is known of. */
const LINKED = 3_000;
/** Characters of a document's base64 to a token: it holds far more than its words. */
const DOCUMENT_CHARACTERS = 40;
/** What surrounds a block. */
const FRAME = 4;

export function textTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function jsonTokens(value: unknown): number {
  return textTokens(JSON.stringify(value) ?? '');
}

export function messageTokens({ content }: Pick<Message, 'content'>): number {
  return blocksTokens(content);
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
