/**
 * Converts a request to parameters of the Messages API. Pure. Roles still alternate afterwards: an empty message is
 * dropped, and its neighbours are merged. User parameters are passed unchanged; parameters set by the platform win.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ModelRequest, ToolSpec } from '../../core/model/model.ts';
import type { AssistantBlock, PromptMessage } from '../../core/conversation/prompt.ts';
import { alternating } from '../wire/request/alternating.ts';
import { wireIds } from '../wire/request/call-ids.ts';
import { stringIn, without } from '../wire/answer/json.ts';
import { wireName } from '../wire/request/names.ts';
import { ANTHROPIC_RULES, instructed, keeps } from '../wire/request/output-format.ts';
import { ownData } from '../wire/request/own.ts';
import { writtenOnce } from '../wire/request/written.ts';
import { ANTHROPIC } from './answer.ts';
import { isUnsaid, writeAssistantBlock, writeUserBlock } from './blocks.ts';

type MessagesParams = Anthropic.MessageCreateParams;

/** The API requires a number. Every current model can write this much, and a runaway answer still ends. */
const DEFAULT_MAX_TOKENS = 16_384;

const CALL_ID = /^[a-zA-Z0-9_-]{1,128}$/;

const EPHEMERAL: Anthropic.CacheControlEphemeral = { type: 'ephemeral' };

/**
 * How many of the last user messages get a cache breakpoint. With `system` and the pinned texts that makes four, the
 * maximum.
 */
const CACHED_MESSAGES = 2;

export function writeRequest(given: ModelRequest): MessagesParams {
  const format = formatOf(given);
  const request = format === null ? instructed(given) : given;
  const cached = cachedBy(request);
  const tools = request.tools.map(writeTool);
  const system = writeSystem(request, cached);
  return {
    max_tokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...without(request.parameters, 'cache_control'),
    ...(format === null ? {} : { output_config: { ...configOf(request), format } }),
    model: request.model.model,
    messages: withBreakpoints(writeMessages(request.messages), cached),
    ...(system.length === 0 ? {} : { system }),
    // Tools precede `system` and are cached with it.
    ...(tools.length === 0 ? {} : { tools: system.length === 0 ? marked(tools, cached) : tools }),
    stream: request.streaming,
  };
}

/**
 * Null: the request has no schema, the provider would refuse it, or the parameters set a format or null themselves: older
 * models have no structured output.
 */
function formatOf(request: ModelRequest): Anthropic.JSONOutputFormat | null {
  const { outputSchema: schema } = request;
  if (schema === null || 'format' in configOf(request) || !keeps(ANTHROPIC_RULES, schema)) return null;
  return { type: 'json_schema', schema: without(schema, '$schema') };
}

function configOf({ parameters: { output_config: config = null } }: ModelRequest): JsonObject {
  return isJsonObject(config) ? config : {};
}

/** Marks a block as a cache breakpoint: the prompt up to it is cached. */
type Cached = { cache_control?: Anthropic.CacheControlEphemeral };

/**
 * All breakpoints have the lifetime that `parameters` sets, because the provider refuses a longer one after a shorter
 * one. Null there: no caching.
 */
function cachedBy({ parameters }: ModelRequest): Cached {
  const requested = parameters['cache_control'];
  if (requested === undefined) return { cache_control: EPHEMERAL };
  return isCacheControl(requested) ? { cache_control: requested } : {};
}

function isCacheControl(value: Json): value is Json & Anthropic.CacheControlEphemeral {
  return isJsonObject(value) && value['type'] === 'ephemeral';
}

/**
 * Breakpoints after tools and system prompt, and after the pinned texts: each part stays cached when what follows
 * changes (after a compaction, or in another conversation).
 */
function writeSystem({ system, pinned }: ModelRequest, cached: Cached): Anthropic.TextBlockParam[] {
  return [system, pinned].filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text, ...cached }));
}

/**
 * Breakpoints after the last user messages: the second to last is where the previous request ended. (The provider
 * looks back only twenty blocks, and one step with many calls has more.)
 */
function withBreakpoints(messages: Anthropic.MessageParam[], cached: Cached): Anthropic.MessageParam[] {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-CACHED_MESSAGES);
  return messages.map((message, at) =>
    message.role === 'user' && typeof message.content !== 'string' && users.includes(at)
      ? { role: 'user', content: marked(message.content, cached) }
      : message,
  );
}

function marked<Block extends object>(blocks: readonly Block[], cached: Cached): Block[] {
  return blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...cached } : block));
}

export function writeMessages(prompt: readonly PromptMessage[]): Anthropic.MessageParam[] {
  const messages = alternating(prompt.map(withoutLastThoughts), isUnsaid);
  const nameOf = wireIds(messages, CALL_ID, (call) => stringIn(ownData(call, ANTHROPIC) ?? {}, 'id'));
  return messages.map((message) => writeMessage(message, nameOf));
}

const writeMessage = writtenOnce<Anthropic.MessageParam>({
  user: (content, nameOf) => ({
    role: 'user',
    content: orEmpty(content.flatMap((one) => writeUserBlock(one, nameOf))),
  }),
  assistant: (content, nameOf) => ({
    role: 'assistant',
    content: content.flatMap((block) => writeAssistantBlock(block, nameOf)),
  }),
});

/**
 * An answer that was cut off while the model was reasoning ends with a thinking block, which the provider refuses in
 * later requests. Such trailing blocks are omitted.
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

/** A user message keeps its place even if none of its content can be sent. */
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
