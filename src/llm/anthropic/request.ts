/**
 * A request of ours → parameters of the Messages API. Pure. Alternation holds afterwards: a message that is left empty
 * goes, and its neighbours become one. User parameters go through as they are; the platform's own members win.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { isJsonObject } from '../../core/json.ts';
import type { Json } from '../../core/json.ts';
import type { ModelRequest, ToolSpec } from '../../core/model.ts';
import type { AssistantBlock, PromptMessage } from '../../core/prompt.ts';
import { alternating } from '../wire/alternating.ts';
import { wireIds } from '../wire/call-ids.ts';
import type { WireIds } from '../wire/call-ids.ts';
import { stringIn } from '../wire/json.ts';
import { wireName } from '../wire/names.ts';
import { ownData } from '../wire/own.ts';
import { writtenOnce } from '../wire/written.ts';
import { ANTHROPIC } from './answer.ts';
import { isUnsaid, writeAssistantBlock, writeUserBlock } from './blocks.ts';

export type MessagesParams = Anthropic.MessageCreateParams;

/** The API wants a number. Every model of today can say as much, and a runaway answer still ends. */
export const DEFAULT_MAX_TOKENS = 16_384;

const CALL_ID = /^[a-zA-Z0-9_-]{1,128}$/;

/** Moves the cache's breakpoint to the end of the prompt by itself. */
const CACHED: Anthropic.CacheControlEphemeral = { type: 'ephemeral' };

export function writeRequest(request: ModelRequest): MessagesParams {
  return {
    max_tokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
    cache_control: CACHED,
    ...request.parameters,
    model: request.model.model,
    messages: writeMessages(request.messages),
    ...writeSystem(request),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(writeTool) }),
    stream: request.streaming,
  };
}

/**
 * Behind what is pinned is a breakpoint of its own, so that it stays cached where what follows becomes another: after a
 * compaction, in another conversation. It lives as long as the one at the end, or the provider refuses the two.
 */
function writeSystem({ system, pinned, parameters }: ModelRequest): Pick<MessagesParams, 'system'> {
  if (pinned.trim() === '') return system.trim() === '' ? {} : { system };
  const wished = parameters['cache_control'];
  const cache = wished === undefined ? CACHED : isCacheControl(wished) ? wished : null;
  return {
    system: [
      ...(system.trim() === '' ? [] : [{ type: 'text' as const, text: system }]),
      { type: 'text', text: pinned, ...(cache === null ? {} : { cache_control: cache }) },
    ],
  };
}

function isCacheControl(value: Json): value is Json & Anthropic.CacheControlEphemeral {
  return isJsonObject(value) && value['type'] === 'ephemeral';
}

export function writeMessages(prompt: readonly PromptMessage[]): Anthropic.MessageParam[] {
  const messages = alternating(prompt.map(withoutLastThoughts), isUnsaid);
  const nameOf = wireIds(messages, CALL_ID, (call) => stringIn(ownData(call, ANTHROPIC) ?? {}, 'id'));
  return messages.map((message) => writeMessage(message, nameOf));
}

const writeMessage = writtenOnce((message, nameOf): Anthropic.MessageParam => ({
  role: message.role,
  content: writeContent(message, nameOf),
}));

/**
 * An answer that was cut off while it thought ends in thinking, which the provider refuses in every later request: the
 * thoughts that led to nothing are left out.
 */
function withoutLastThoughts(message: PromptMessage): PromptMessage {
  if (message.role === 'user') return message;
  const end = message.content.findLastIndex((block) => !isThought(block));
  if (end + 1 === message.content.length) return message;
  return { role: 'assistant', content: message.content.slice(0, end + 1) };
}

function isThought(block: AssistantBlock): boolean {
  const kind = block.type === 'thinking' ? stringIn(ownData(block, ANTHROPIC) ?? {}, 'type') : null;
  return kind === 'thinking' || kind === 'redacted_thinking' || kind === '';
}

function writeContent(message: PromptMessage, nameOf: WireIds): Anthropic.ContentBlockParam[] {
  switch (message.role) {
    case 'user':
      return orEmpty(message.content.flatMap((block) => writeUserBlock(block, nameOf)));
    case 'assistant':
      return message.content.flatMap((block) => writeAssistantBlock(block, nameOf));
  }
}

/** A user's message keeps its place even where nothing in it can be sent. */
function orEmpty(content: Anthropic.ContentBlockParam[]): Anthropic.ContentBlockParam[] {
  return content.length > 0 ? content : [{ type: 'text', text: '(empty message)' }];
}

function writeTool(tool: ToolSpec): Anthropic.Tool {
  return {
    name: wireName(tool.name),
    ...(tool.description === '' ? {} : { description: tool.description }),
    input_schema: { ...tool.input_schema, type: 'object' },
  };
}
