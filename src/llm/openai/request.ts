/**
 * Converts a request to parameters of the Responses API. Pure. Nothing is stored at the provider: reasoning comes
 * back encrypted and is sent again. User parameters are passed unchanged; parameters set by the platform win.
 */
import type OpenAI from 'openai';
import type { DocumentBlock, ImageBlock, ResultPart, ToolResultBlock } from '../../core/conversation/blocks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ModelRequest, ToolSpec } from '../../core/model/model.ts';
import type { AssistantBlock, PromptMessage, UserBlock } from '../../core/conversation/prompt.ts';
import { cacheKey } from '../wire/request/cache-key.ts';
import { systemText } from '../wire/request/system-text.ts';
import { wireIds, type WireIds } from '../wire/request/call-ids.ts';
import { dataURL, fileName } from '../wire/request/files.ts';
import { stringIn, without } from '../wire/answer/json.ts';
import { wireName } from '../wire/request/names.ts';
import { FORMAT_NAME, OPENAI_RULES, instructed, isOfObject, keeps } from '../wire/request/output-format.ts';
import { ownData } from '../wire/request/own.ts';
import { Unsupported } from '../wire/request/unsupported.ts';
import { writtenOnce } from '../wire/request/written.ts';
import { OPENAI, writeCall, writeOwnItem, writeOwnMessage } from './items.ts';

type ResponsesParams = OpenAI.Responses.ResponseCreateParams;
type Item = OpenAI.Responses.ResponseInputItem;
type Part = OpenAI.Responses.ResponseInputContent;

const CALL_ID = /^[\x21-\x7e]{1,64}$/;
const ENCRYPTED = 'reasoning.encrypted_content';

export function writeRequest(given: ModelRequest): ResponsesParams {
  const format = formatOf(given);
  const request = format === null ? instructed(given) : given;
  return {
    ...(request.maxTokens === null ? {} : { max_output_tokens: request.maxTokens }),
    prompt_cache_key: cacheKey(request.cacheKey),
    ...request.parameters,
    ...(format === null ? {} : { text: { ...textOf(request), format } }),
    include: included(request.parameters['include']),
    model: request.model.model,
    input: writeInput(request.messages),
    ...(systemText(request) === '' ? {} : { instructions: systemText(request) }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(writeTool) }),
    store: false,
    stream: request.streaming,
  };
}

/** Null: the request has no schema, the provider would refuse it, or the parameters set a format. */
function formatOf(request: ModelRequest): OpenAI.Responses.ResponseFormatTextJSONSchemaConfig | null {
  const { outputSchema: schema } = request;
  if (schema === null || 'format' in textOf(request) || !isOfObject(schema)) return null;
  const strict = keeps(OPENAI_RULES, schema);
  return { type: 'json_schema', name: FORMAT_NAME, schema: without(schema, '$schema'), strict };
}

function textOf({ parameters: { text = null } }: ModelRequest): JsonObject {
  return isJsonObject(text) ? text : {};
}

/** Keeps the values that the user's `include` adds. */
function included(requested: Json | undefined): OpenAI.Responses.ResponseIncludable[] {
  const others = Array.isArray(requested) ? requested.filter(isIncludable) : [];
  return [...new Set([ENCRYPTED, ...others] as const)];
}

/** The provider checks which names are valid. */
function isIncludable(name: Json): name is OpenAI.Responses.ResponseIncludable {
  return typeof name === 'string';
}

export function writeInput(messages: readonly PromptMessage[]): Item[] {
  const nameOf = wireIds(messages, CALL_ID, (call) => stringIn(ownData(call, OPENAI) ?? {}, 'call_id'));
  const items = messages.flatMap((message) => writeMessage(message, nameOf));
  return withoutSameIds(items).map(ownItem);
}

const writeMessage = writtenOnce({ user: writeUser, assistant: writeAssistant });

/** Tool results first, each as its own item; then one message with the rest. */
function writeUser(content: readonly UserBlock[], nameOf: WireIds): JsonObject[] {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [writeResult(block, nameOf)] : []));
  const parts = content.flatMap((block) => (block.type === 'tool_result' ? [] : [writePart(block)]));
  return parts.length === 0 ? results : [...results, { type: 'message', role: 'user', content: parts }];
}

function writeResult(block: ToolResultBlock, nameOf: WireIds): JsonObject {
  const output = typeof block.content === 'string' ? block.content : block.content.map(writePart);
  return { type: 'function_call_output', call_id: nameOf(block.tool_use_id), output };
}

/**
 * If a reasoning item is omitted, the items that followed it are sent without ids: otherwise the provider would
 * require the reasoning that belongs to them.
 */
function writeAssistant(content: readonly AssistantBlock[], nameOf: WireIds): JsonObject[] {
  const items: JsonObject[] = [];
  let bare = false;
  for (const block of content) {
    const item = writeAssistantBlock(block, nameOf);
    if (item === null) bare ||= ownData(block, OPENAI) !== null;
    else items.push(bare ? without(item, 'id') : item);
  }
  // The provider refuses trailing reasoning items (from an answer cut off during reasoning).
  return items.slice(0, items.findLastIndex((item) => stringIn(item, 'type') !== 'reasoning') + 1);
}

function writeAssistantBlock(block: AssistantBlock, nameOf: WireIds): JsonObject | null {
  switch (block.type) {
    case 'text':
      return writeOwnMessage(block) ?? { type: 'message', role: 'assistant', content: block.text };
    case 'thinking':
      return writeOwnItem(block);
    case 'tool_use':
      return writeCall(block, nameOf(block.id));
  }
}

function writePart(block: ResultPart | ImageBlock | DocumentBlock): Part & JsonObject {
  switch (block.type) {
    case 'text':
      return { type: 'input_text', text: block.text };
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: dataURL(block.source) };
    case 'document':
      return block.source.type === 'url'
        ? { type: 'input_file', file_url: block.source.url }
        : { type: 'input_file', filename: fileName(block), file_data: dataURL(block.source) };
  }
}

function writeTool(tool: ToolSpec): OpenAI.Responses.FunctionTool {
  return {
    type: 'function',
    name: wireName(tool.name),
    description: tool.description,
    parameters: tool.input_schema,
    // The default would require a stricter kind of schema.
    strict: false,
  };
}

/** An id may appear only once in a prompt. */
function withoutSameIds(items: readonly JsonObject[]): JsonObject[] {
  const seen = new Set<string>();
  return items.map((item) => {
    const id = stringIn(item, 'id');
    if (id === '') return item;
    if (seen.has(id)) return without(item, 'id');
    seen.add(id);
    return item;
  });
}

/** Treats the provider's own data as one of its items: its type may be newer than the SDK's types. */
function ownItem(item: JsonObject): Item {
  if (!isOwnItem(item)) throw new Unsupported('an item without a type');
  return item;
}

function isOwnItem(item: JsonObject): item is JsonObject & Item {
  return stringIn(item, 'type') !== '';
}
