/** One message of a folder: its file and its entry in the index. */
import type { Block, ToolUseBlock } from '../../core/conversation/blocks.ts';
import type { Ids, ToolCallId } from '../../core/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import {
  MESSAGE_ROLES,
  MESSAGE_TYPES,
  type MessageRole,
  type MessageType,
  type ModelMeta,
} from '../../core/conversation/message.ts';
import { unpriced } from '../../core/money/usage.ts';
import { INDEX, fault, instantOf, textOf, type Files } from './folder-fault.ts';

export type FolderMessage = {
  /** The id in the folder. */
  id: string;
  file: string;
  seq: number;
  branch: string;
  parentId: string | null;
  role: MessageRole;
  type: MessageType;
  status: 'completed' | 'retracted';
  content: Block[];
  createdAt: number;
  model: ModelMeta | null;
};

/** Unfinished and retracted messages are imported, but as retracted: they are not part of the history. */
const STATES: ReadonlyMap<string, FolderMessage['status']> = new Map(
  Object.entries({
    completed: 'completed',
    complete: 'completed',
    done: 'completed',
    sent: 'completed',
    retracted: 'retracted',
    deleted: 'retracted',
    discarded: 'retracted',
    cancelled: 'retracted',
    interrupted: 'retracted',
    failed: 'retracted',
    error: 'retracted',
    queued: 'retracted',
    pending: 'retracted',
    streaming: 'retracted',
  }),
);

/** New ids of tool calls by their ids in the folder. Reading a message adds to `known`. */
export type CallIds = { known: Map<string, ToolCallId>; ids: Ids };

/** `entry`: that of the message in the index. `before`: time of the previous message. */
type Place = { id: string; entry: JsonObject; seq: number; before: number };

export function readMessage(files: Files, place: Place, calls: CallIds): FolderMessage {
  const { id, entry, seq, before } = place;
  const file = `messages/${id}.json`;
  const message = files[file];
  if (message === undefined) throw fault(file, 'is missing');
  if (!isJsonObject(message)) throw fault(file, 'is not a JSON object');
  const own = textOf(message['id'], file, 'id');
  if (own !== null && own !== id) throw fault(file, `has the id ${own}, which differs from its file name`);
  const either = (member: string): string | null => {
    const [here, there] = [textOf(message[member], file, member), textOf(entry[member], INDEX, member)];
    if (here !== null && there !== null && here !== there)
      throw fault(file, `and ${INDEX} have a different ${member}: ${here} and ${there}`);
    return here ?? there;
  };
  const content = blocksOf(message['content'], file, calls);
  const role = roleOf(textOf(message['role'], file, 'role'), content, file);
  return {
    id,
    file,
    seq,
    branch: either('branch') ?? 'main',
    parentId: either('parent_id'),
    role,
    type: typeOf(textOf(message['type'], file, 'type'), role, content, file),
    status: statusOf(either('state') ?? either('status'), file),
    content,
    createdAt: instantOf(message['created_at'] ?? entry['created_at'], file, 'created_at') ?? before,
    model: role === 'assistant' ? modelOf(message, file) : null,
  };
}

function roleOf(text: string | null, content: readonly Block[], file: string): MessageRole {
  const role = MESSAGE_ROLES.find((known) => known === text);
  if (role === undefined) throw fault(file, `has no valid role: use one of ${MESSAGE_ROLES.join(', ')}`);
  const isResult = content.length > 0 && content.every(({ type }) => type === 'tool_result');
  return role === 'user' && isResult ? 'tool' : role;
}

function typeOf(text: string | null, role: MessageRole, content: readonly Block[], file: string): MessageType {
  if (role === 'tool') return 'tool_result';
  if (content.some(({ type }) => type === 'tool_use')) return 'tool_call';
  const type = text === null ? 'text' : MESSAGE_TYPES.find((known) => known === text);
  if (type === undefined) throw fault(file, `has no valid type: use one of ${MESSAGE_TYPES.join(', ')}`);
  return type === 'tool_call' || type === 'tool_result' || type === 'partial' ? 'text' : type;
}

function statusOf(state: string | null, file: string): FolderMessage['status'] {
  const status = state === null ? 'completed' : STATES.get(state.toLowerCase());
  if (status === undefined) throw fault(file, `has an unknown state: use one of ${[...STATES.keys()].join(', ')}`);
  return status;
}

function modelOf(message: JsonObject, file: string): ModelMeta | null {
  const modelId = textOf(message['model_id'], file, 'model_id');
  if (modelId === null) return null;
  const usage = message['usage'] ?? {};
  if (!isJsonObject(usage)) throw fault(file, 'has a usage that is not an object');
  const tokens = (member: string): number => {
    const count = usage[member] ?? 0;
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count < 2 ** 31) return count;
    throw fault(file, `has a usage whose ${member} is not a whole number of tokens`);
  };
  return {
    modelId,
    providerId: textOf(message['provider_id'], file, 'provider_id') ?? '',
    finishReason: textOf(message['finish_reason'], file, 'finish_reason') ?? 'stop',
    usage: unpriced({
      input_tokens: tokens('input_tokens'),
      output_tokens: tokens('output_tokens'),
      cache_read_tokens: tokens('cache_read_tokens'),
      cache_write_tokens: tokens('cache_write_tokens'),
    }),
  };
}

function blocksOf(content: Json | undefined, file: string, calls: CallIds): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw fault(file, 'has no content: it must be text or a list of blocks');
  return content.map((block, place) => {
    const read = isJsonObject(block) ? blockOf(block, calls) : null;
    if (read === null) throw fault(file, `has an unknown or invalid block at index ${place} of its content`);
    return read;
  });
}

/** Null: unknown or invalid. */
function blockOf(block: JsonObject, calls: CallIds): Block | null {
  const { type } = block;
  if (typeof type !== 'string') return null;
  switch (type) {
    case 'text':
      return typeof block['text'] === 'string' ? { type: 'text', text: block['text'] } : null;
    case 'thinking': {
      const text = block['text'] ?? block['thinking'];
      return typeof text === 'string' ? { type: 'thinking', text } : null;
    }
    case 'tool_use':
      return callOf(block, calls);
    case 'tool_result': {
      const id = callId(block['tool_use_id'], calls);
      const content = resultText(block['content']);
      return id === null || content === null
        ? null
        : { type: 'tool_result', tool_use_id: id, content, is_error: block['is_error'] === true };
    }
    default:
      return null;
  }
}

function callOf(block: JsonObject, calls: CallIds): ToolUseBlock | null {
  const id = callId(block['id'], calls);
  const name = block['name'];
  if (id === null || typeof name !== 'string') return null;
  return { type: 'tool_use', id, name, input: block['input'] ?? {} };
}

function resultText(content: Json | undefined): string | null {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : null));
  return texts.includes(null) ? null : texts.join('\n');
}

function callId(text: Json | undefined, { known, ids }: CallIds): ToolCallId | null {
  if (typeof text !== 'string' || text === '') return null;
  const id = known.get(text) ?? ids.next<ToolCallId>();
  known.set(text, id);
  return id;
}
