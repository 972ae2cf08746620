/**
 * Converts our blocks to chat messages. A tool result may contain only text here, so its images follow in a user
 * message. Content is a plain string where possible, which every server accepts.
 */
import type OpenAI from 'openai';
import {
  isToolResult,
  isToolUse,
  type DocumentBlock,
  type ImageBlock,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../core/conversation/blocks.ts';
import type { AssistantBlock, UserBlock } from '../../core/conversation/prompt.ts';
import { argumentsText } from '../wire/request/arguments.ts';
import type { WireIds } from '../wire/request/call-ids.ts';
import { dataURL, fileName } from '../wire/request/files.ts';
import { stringIn, without } from '../wire/answer/json.ts';
import { wireName } from '../wire/request/names.ts';
import { ownData } from '../wire/request/own.ts';
import { Unsupported } from '../wire/request/unsupported.ts';
import { OPENAI_CHAT, REASONING_FIELDS } from './message.ts';

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Part = OpenAI.Chat.ChatCompletionContentPart;
type Call = OpenAI.Chat.ChatCompletionMessageFunctionToolCall;

/** Tool results first, then the user's content. */
export function writeUser(content: readonly UserBlock[], nameOf: WireIds): Message[] {
  const results = content.filter(isToolResult);
  const userContent = content.flatMap((block) => (block.type === 'tool_result' ? imagesOf(block) : [block]));
  const messages: Message[] = results.map((result) => ({
    role: 'tool',
    tool_call_id: nameOf(result.tool_use_id),
    content: resultText(result),
  }));
  return userContent.length === 0 ? messages : [...messages, { role: 'user', content: writeParts(userContent) }];
}

function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '[image: see below]')).join('\n');
}

function imagesOf({ content }: ToolResultBlock): ImageBlock[] {
  return typeof content === 'string' ? [] : content.filter((part) => part.type === 'image');
}

function writeParts(blocks: readonly (TextBlock | ImageBlock | DocumentBlock)[]): string | Part[] {
  const parts = blocks.map(writePart);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n\n') : parts;
}

function writePart(block: TextBlock | ImageBlock | DocumentBlock): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image_url', image_url: { url: dataURL(block.source) } };
    case 'document':
      return writeDocument(block);
  }
}

function writeDocument(block: DocumentBlock): Part {
  const { source, title } = block;
  if (source.type === 'url') throw new Unsupported('documents by URL. Send the data of the document');
  if (source.media_type.startsWith('text/')) {
    const text = Buffer.from(source.data, 'base64').toString('utf8');
    return { type: 'text', text: title === undefined ? text : `${title}\n\n${text}` };
  }
  return { type: 'file', file: { filename: fileName(block), file_data: dataURL(source) } };
}

/** Empty if the content is only another provider's reasoning. */
export function writeAssistant(content: readonly AssistantBlock[], nameOf: WireIds): Message[] {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  const calls = content.filter(isToolUse).map((call) => writeCall(call, nameOf));
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  // Reasoning is sent back only within a round of tool calls: some servers require it there and refuse it elsewhere.
  const reasoning = reasoningOf(content);
  return [{ role: 'assistant', content: text === '' ? null : text, ...reasoning, tool_calls: calls }];
}

function reasoningOf(content: readonly AssistantBlock[]): Record<string, string> {
  const members: Record<string, string> = {};
  for (const block of content) {
    if (block.type !== 'thinking') continue;
    const field = stringIn(ownData(block, OPENAI_CHAT) ?? {}, 'field');
    const known = REASONING_FIELDS.find((name) => name === field);
    if (known !== undefined) members[known] = (members[known] ?? '') + block.text;
  }
  return members;
}

function writeCall(block: ToolUseBlock, nameOf: WireIds): Call {
  const own = ownData(block, OPENAI_CHAT) ?? {};
  return {
    ...without(own, 'arguments'),
    id: nameOf(block.id),
    type: 'function',
    function: {
      name: wireName(block.name),
      arguments: argumentsText(block.input, stringIn(own, 'arguments')),
    },
  };
}
