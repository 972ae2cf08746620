/**
 * Converts a request to parameters of Chat Completions, using the names that most compatible servers know. Pure.
 * `official`: OpenAI's own server, which has newer and additional parameters. User parameters are passed unchanged;
 * parameters set by the platform win.
 */
import type OpenAI from 'openai';
import type { JsonObject } from '../../core/json.ts';
import type { ModelRequest, ToolSpec } from '../../core/model/model.ts';
import type { PromptMessage } from '../../core/conversation/prompt.ts';
import { alternating } from '../wire/request/alternating.ts';
import { cacheKey } from '../wire/request/cache-key.ts';
import { systemText } from '../wire/request/system-text.ts';
import { wireIds } from '../wire/request/call-ids.ts';
import { stringIn, without } from '../wire/answer/json.ts';
import { wireName } from '../wire/request/names.ts';
import { FORMAT_NAME, OPENAI_RULES, instructed, isOfObject, keeps } from '../wire/request/output-format.ts';
import { ownData } from '../wire/request/own.ts';
import { writtenOnce } from '../wire/request/written.ts';
import { writeAssistant, writeUser } from './blocks.ts';
import { OPENAI_CHAT } from './message.ts';

type ChatParams = OpenAI.Chat.ChatCompletionCreateParams;
type Message = OpenAI.Chat.ChatCompletionMessageParam;

const CALL_ID = /^[\x21-\x7e]{1,64}$/;

export function writeRequest(given: ModelRequest, official: boolean): ChatParams {
  const format = formatOf(given, official);
  // Other servers may hold the model to the schema without showing it the schema.
  const request = format === null || !official ? instructed(given) : given;
  return {
    ...limitOf(request.maxTokens, official),
    ...(official ? { prompt_cache_key: cacheKey(request.cacheKey) } : {}),
    ...(request.streaming ? { stream_options: { include_usage: true } } : {}),
    ...(format === null ? {} : { response_format: format }),
    ...request.parameters,
    model: request.model.model,
    messages: [...writeSystem(systemText(request)), ...writeMessages(request.messages)],
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(writeTool) }),
    stream: request.streaming,
  };
}

/** Null: the request has no schema, OpenAI would refuse it, or the parameters set a format. */
function formatOf(
  { outputSchema: schema, parameters }: ModelRequest,
  official: boolean,
): OpenAI.ResponseFormatJSONSchema | null {
  if (schema === null || 'response_format' in parameters || (official && !isOfObject(schema))) return null;
  const strict = keeps(OPENAI_RULES, schema);
  const json_schema = { name: FORMAT_NAME, schema: without(schema, '$schema'), strict };
  return { type: 'json_schema', json_schema };
}

/** OpenAI's reasoning models refuse the old parameter; most other servers do not know the new one. */
function limitOf(maxTokens: number | null, official: boolean): JsonObject {
  if (maxTokens === null) return {};
  return official ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
}

function writeSystem(system: string): Message[] {
  return system === '' ? [] : [{ role: 'system', content: system }];
}

function writeMessages(prompt: readonly PromptMessage[]): Message[] {
  // A message with only reasoning cannot be sent here.
  const messages = alternating(prompt, (block) => block.type === 'thinking');
  const nameOf = wireIds(messages, CALL_ID, (call) => stringIn(ownData(call, OPENAI_CHAT) ?? {}, 'id'));
  return messages.flatMap((message) => writeMessage(message, nameOf));
}

const writeMessage = writtenOnce({ user: writeUser, assistant: writeAssistant });

function writeTool(tool: ToolSpec): OpenAI.Chat.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: { name: wireName(tool.name), description: tool.description, parameters: tool.input_schema },
  };
}
