/**
 * Converts our blocks to Messages API blocks. Blocks from this provider are sent back verbatim; reasoning of other
 * providers is omitted.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { DocumentBlock, ImageBlock, ToolResultBlock } from '../../core/conversation/blocks.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AssistantBlock, UserBlock } from '../../core/conversation/prompt.ts';
import { argumentsObject } from '../wire/request/arguments.ts';
import type { WireIds } from '../wire/request/call-ids.ts';
import { stringIn } from '../wire/answer/json.ts';
import { wireName } from '../wire/request/names.ts';
import { ownData } from '../wire/request/own.ts';
import { Unsupported } from '../wire/request/unsupported.ts';
import { ANTHROPIC } from './answer.ts';

type Param = Anthropic.ContentBlockParam;

/**
 * Whether nothing of the block is sent: the API refuses text without a visible character, and reasoning of other
 * providers is useless here.
 */
export function isUnsaid(block: AssistantBlock): boolean {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '';
    case 'thinking':
      return stringIn(ownData(block, ANTHROPIC) ?? {}, 'type') === '';
    case 'tool_use':
      return false;
  }
}

export function writeAssistantBlock(block: AssistantBlock, nameOf: WireIds): Param[] {
  if (isUnsaid(block)) return [];
  const own = ownData(block, ANTHROPIC);
  switch (block.type) {
    case 'text':
      return [ownParam({ ...own, type: 'text', text: block.text })];
    case 'thinking':
      return [ownParam(own?.['type'] === 'thinking' ? { ...own, thinking: block.text } : (own ?? {}))];
    case 'tool_use': {
      const input = argumentsObject(block.input);
      const call = { type: 'tool_use', id: nameOf(block.id), name: wireName(block.name), input };
      return [ownParam({ ...own, ...call })];
    }
  }
}

export function writeUserBlock(block: UserBlock, nameOf: WireIds): Param[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }];
    case 'image':
      return [writeImage(block)];
    case 'document':
      return [writeDocument(block)];
    case 'tool_result':
      return [writeResult(block, nameOf)];
  }
}

function writeResult(block: ToolResultBlock, nameOf: WireIds): Anthropic.ToolResultBlockParam {
  const parts = typeof block.content === 'string' ? [{ type: 'text' as const, text: block.content }] : block.content;
  const content = parts.flatMap((part): (Anthropic.TextBlockParam | Anthropic.ImageBlockParam)[] => {
    if (part.type === 'image') return [writeImage(part)];
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  });
  const only = content[0];
  return {
    type: 'tool_result',
    tool_use_id: nameOf(block.tool_use_id),
    ...(content.length === 0 ? {} : { content: content.length === 1 && only?.type === 'text' ? only.text : content }),
    ...(block.is_error ? { is_error: true } : {}),
  };
}

function writeImage({ source }: ImageBlock): Anthropic.ImageBlockParam {
  if (source.type === 'url') return { type: 'image', source: { type: 'url', url: source.url } };
  const media_type = source.media_type;
  if (!isImageType(media_type)) throw new Unsupported(`images of type ${media_type}. Use JPEG, PNG, GIF or WebP`);
  return { type: 'image', source: { type: 'base64', media_type, data: source.data } };
}

function writeDocument({ source, title }: DocumentBlock): Anthropic.DocumentBlockParam {
  const named = title === undefined ? {} : { title };
  if (source.type === 'url') return { type: 'document', source: { type: 'url', url: source.url }, ...named };
  if (source.media_type === 'application/pdf') {
    const pdf = { type: 'base64' as const, media_type: 'application/pdf' as const, data: source.data };
    return { type: 'document', source: pdf, ...named };
  }
  if (!source.media_type.startsWith('text/')) {
    throw new Unsupported(`documents of type ${source.media_type}. Use PDF or text`);
  }
  const data = Buffer.from(source.data, 'base64').toString('utf8');
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...named };
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

function isImageType(type: string): type is (typeof IMAGE_TYPES)[number] {
  return (IMAGE_TYPES as readonly string[]).includes(type);
}

/** Treats the provider's own data as one of its blocks: its type may be newer than the SDK's types. */
function ownParam(data: JsonObject): Param {
  if (!isOwnParam(data)) throw new Unsupported('a block without a type');
  return data;
}

function isOwnParam(data: JsonObject): data is JsonObject & Param {
  return stringIn(data, 'type') !== '';
}
