/**
 * Converts output items of a response to our blocks and back, one block per item. The block carries the item, without
 * the fields our block already has, and it is sent back verbatim with its id. Items of unknown types are carried
 * whole.
 */
import type { ThinkingBlock, TextBlock, ToolUseBlock } from '../../core/conversation/blocks.ts';
import type { Ids } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AssistantBlock } from '../../core/conversation/prompt.ts';
import { argumentsText, readArguments } from '../wire/request/arguments.ts';
import { objectsIn, stringIn, without } from '../wire/answer/json.ts';
import { wireName } from '../wire/request/names.ts';
import { ownData } from '../wire/request/own.ts';

export const OPENAI = 'openai';

export function readItem(item: JsonObject, ids: Ids): AssistantBlock[] {
  switch (stringIn(item, 'type')) {
    case 'message':
      return readMessage(item);
    case 'reasoning':
      return [{ type: 'thinking', text: reasoningText(item), provider: opaque(item) }];
    case 'function_call':
      return [readCall(item, ids)];
    default:
      return [{ type: 'thinking', text: '', provider: opaque(item) }];
  }
}

/** An empty message is sent back too: the provider requires the item that follows a reasoning item. */
function readMessage(item: JsonObject): (TextBlock | ThinkingBlock)[] {
  const parts = objectsIn(item, 'content');
  const text = messageText(parts);
  const [only, ...more] = parts;
  if (text === '') return [{ type: 'thinking', text, provider: opaque(item) }];
  const lean = only === undefined || more.length > 0 ? item : { ...item, content: [without(only, 'text')] };
  return [{ type: 'text', text, provider: opaque(lean) }];
}

function readCall(item: JsonObject, ids: Ids): ToolUseBlock {
  const raw = stringIn(item, 'arguments');
  const input = readArguments(raw);
  const lean = without(item, 'name', 'arguments');
  return {
    type: 'tool_use',
    id: ids.next(),
    name: stringIn(item, 'name'),
    input,
    provider: opaque(argumentsText(input, '') === raw ? lean : { ...lean, arguments: raw }),
  };
}

/** The item for `text`; null if it is not from this provider, or the text differs from it. */
export function writeOwnMessage(block: TextBlock): JsonObject | null {
  const own = ownData(block, OPENAI);
  const parts = objectsIn(own ?? {}, 'content');
  const [only, ...more] = parts;
  if (own === null || only === undefined) return null;
  if (more.length === 0) return { ...own, type: 'message', content: [{ ...only, text: block.text }] };
  return messageText(parts) === block.text ? { ...own, type: 'message' } : null;
}

/**
 * The item for reasoning or for an unknown type. Null if it is from another provider, and for reasoning that has only
 * an id: responses are not stored, so the provider could not find it.
 */
export function writeOwnItem(block: ThinkingBlock): JsonObject | null {
  const own = ownData(block, OPENAI);
  const kind = stringIn(own ?? {}, 'type');
  if (own === null || kind === '') return null;
  if (kind !== 'reasoning') return own;
  return stringIn(own, 'encrypted_content') !== '' || objectsIn(own, 'content').length > 0 ? own : null;
}

export function writeCall(block: ToolUseBlock, callId: string): JsonObject {
  const own = ownData(block, OPENAI) ?? {};
  return {
    ...own,
    type: 'function_call',
    call_id: callId,
    name: wireName(block.name),
    arguments: argumentsText(block.input, stringIn(own, 'arguments')),
  };
}

function messageText(parts: readonly JsonObject[]): string {
  return parts.map((part) => stringIn(part, 'text')).join('');
}

function reasoningText(item: JsonObject): string {
  const parts = [...objectsIn(item, 'summary'), ...objectsIn(item, 'content')];
  return parts.map((part) => stringIn(part, 'text')).join('\n\n');
}

function opaque(data: JsonObject): { name: string; data: JsonObject } {
  return { name: OPENAI, data };
}
