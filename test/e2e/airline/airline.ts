// The recorded conversations of an airline's support: the messages of the user, the model and the tools. Not part of
// the repository: tests that read them skip where they are absent.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { recordedData } from '../../services/recorded-data.ts';

const CONVERSATIONS = recordedData('tau-airline/conversations.jsonl');
const AIRLINE = path.dirname(CONVERSATIONS.file);

/** Why tests skip; null: the conversations are there. */
export const ABSENT = CONVERSATIONS.absent;

export type Call = { name: string; input: Json };

/** One message. An assistant message may have text and calls. */
export type RecordedMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: Call[] }
  | { role: 'tool'; name: string; text: string };

export type Conversation = { task: number; recorded: RecordedMessage[] };

export function readConversations(): Conversation[] {
  return readFileSync(path.join(AIRLINE, 'conversations.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => toConversation(parse(line)));
}

export function readPolicy(): string {
  return readFileSync(path.join(AIRLINE, 'system.md'), 'utf8');
}

export type RecordedTool = { name: string; description: string; input_schema: JsonObject };

export function readTools(): RecordedTool[] {
  return list(parse(readFileSync(path.join(AIRLINE, 'tools.json'), 'utf8'))).map((tool) => {
    const described = object(tool['function']);
    return {
      name: text(described['name']),
      description: text(described['description']),
      input_schema: object(described['parameters']),
    };
  });
}

function toConversation(line: Json): Conversation {
  const { task_id: task, messages } = object(line);
  if (typeof task !== 'number') throw new Error('a conversation without a task');
  return { task, recorded: list(messages).map(toRecorded) };
}

function toRecorded(message: JsonObject): RecordedMessage {
  const role = text(message['role']);
  switch (role) {
    case 'user':
      return { role: 'user', text: text(message['content']) };
    case 'assistant':
      return {
        role: 'assistant',
        text: text(message['content']),
        calls: list(message['tool_calls']).map(toCall),
      };
    case 'tool':
      return { role: 'tool', name: text(message['name']), text: text(message['content']) };
    default:
      throw new Error('a message without a known role');
  }
}

function toCall(call: JsonObject): Call {
  const called = object(call['function']);
  return { name: text(called['name']), input: parse(text(called['arguments'])) };
}

function parse(json: string): Json {
  return JSON.parse(json) as Json;
}

/** Null and nothing are an empty text. */
function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function object(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
