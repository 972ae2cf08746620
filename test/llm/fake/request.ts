/**
 * A request to a fake provider, in the same form for every wire format, so that one handler serves all three: the
 * model, the conversation, the tools, and the received body.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { Format } from './reply.ts';

/** One entry of the conversation as the provider sees it. A tool's result is an entry of its own. */
export type FakeEntry = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** Calls of an assistant entry; `arguments` is the JSON text. */
  calls: { id: string; name: string; arguments: string }[];
  /** Of a tool's result: the call that it answers. */
  callId: string | null;
};

export type FakeRequest = {
  /** Counts requests from 0. */
  index: number;
  format: Format;
  stream: boolean;
  model: string;
  entries: FakeEntry[];
  tools: string[];
  headers: IncomingHttpHeaders;
  body: JsonObject;
};

export function readRequest(
  index: number,
  format: Format,
  headers: IncomingHttpHeaders,
  body: JsonObject,
): FakeRequest {
  return {
    index,
    format,
    headers,
    body,
    stream: body['stream'] === true,
    model: text(body['model']),
    entries: entriesOf(format, body),
    tools: list(body['tools']).map((tool) => text(tool['name']) || text(object(tool['function'])['name'])),
  };
}

/** The text of the last entry that a user wrote; empty where there is none. */
export function lastInput(request: FakeRequest): string {
  return request.entries.findLast((entry) => entry.role === 'user')?.text ?? '';
}

function entriesOf(format: Format, body: JsonObject): FakeEntry[] {
  switch (format) {
    case 'messages':
      return [...fromBody('system', body['system']), ...list(body['messages']).flatMap(fromMessage)];
    case 'chat':
      return list(body['messages']).map(fromChat);
    case 'responses':
      return merged([...fromBody('system', body['instructions']), ...list(body['input']).flatMap(fromItem)]);
  }
}

function fromMessage(message: JsonObject): FakeEntry[] {
  const content = message['content'];
  const parts: Json = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const blocks = list(parts);
  const results = blocks
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => ({
      role: 'tool' as const,
      text: words(block['content']),
      calls: [],
      callId: text(block['tool_use_id']),
    }));
  const calls = blocks
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => ({
      id: text(block['id']),
      name: text(block['name']),
      arguments: JSON.stringify(block['input']),
    }));
  const spoken = words(parts);
  if (spoken === '' && calls.length === 0) return results;
  const role = message['role'] === 'assistant' ? 'assistant' : 'user';
  return [...results, { role, text: spoken, calls, callId: null }];
}

function fromChat(message: JsonObject): FakeEntry {
  const role = text(message['role']);
  const calls = list(message['tool_calls']).map((call) => ({
    id: text(call['id']),
    name: text(object(call['function'])['name']),
    arguments: text(object(call['function'])['arguments']),
  }));
  const callId = role === 'tool' ? text(message['tool_call_id']) : null;
  return { role: roleOf(role), text: words(message['content']), calls, callId };
}

function fromItem(item: JsonObject): FakeEntry[] {
  switch (text(item['type'])) {
    case '':
    case 'message':
      return fromBody(roleOf(text(item['role'])), item['content']);
    case 'function_call': {
      const call = {
        id: text(item['call_id']),
        name: text(item['name']),
        arguments: text(item['arguments']),
      };
      return [{ role: 'assistant', text: '', calls: [call], callId: null }];
    }
    case 'function_call_output':
      return [{ role: 'tool', text: words(item['output']), calls: [], callId: text(item['call_id']) }];
    default:
      return [];
  }
}

/** Several items of one assistant answer are one entry. */
function merged(entries: FakeEntry[]): FakeEntry[] {
  const together: FakeEntry[] = [];
  for (const entry of entries) {
    const last = together.at(-1);
    if (last?.role !== 'assistant' || entry.role !== 'assistant') together.push(entry);
    else
      together.splice(-1, 1, {
        ...last,
        text: last.text + entry.text,
        calls: [...last.calls, ...entry.calls],
      });
  }
  return together;
}

function fromBody(role: FakeEntry['role'], content: Json | undefined): FakeEntry[] {
  return content === undefined || content === null ? [] : [{ role, text: words(content), calls: [], callId: null }];
}

function roleOf(role: string): FakeEntry['role'] {
  switch (role) {
    case 'assistant':
    case 'tool':
      return role;
    case 'system':
    case 'developer':
      return 'system';
    default:
      return 'user';
  }
}

/** The text in a string or in a list of parts. */
function words(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(part['text']))
    .join('');
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
