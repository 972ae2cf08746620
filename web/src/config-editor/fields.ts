/** Every field of a config: what it is called, and how its value is read. The API validates more than its form. */
import type { Json } from 'nightshift/client';
import { configWords } from '../words.ts';
import type { ConfigDraft, ConfigMember } from './draft.ts';

export type Read = { kind: 'value'; value: Json } | { kind: 'wrong'; message: string };

export type FieldDefinition<Written> = {
  label: string;
  hint?: string;
  /** Of a text area. */
  rows?: number;
  /** Reads a value that is set. */
  read: (written: NonNullable<Written>) => Read;
};

const { fields, faults } = configWords;

export const FIELDS: { readonly [Member in ConfigMember]: FieldDefinition<ConfigDraft[Member]> } = {
  model: { ...fields.model, read: (text) => value(text.trim()) },
  mode: { ...fields.mode, read: value },
  streaming: { ...fields.streaming, read: (chosen) => value(chosen === 'on') },
  system_prompt: { ...fields.system_prompt, rows: 8, read: value },
  tools: { ...fields.tools, read: (names) => value([...names]) },
  mcp_servers: { ...fields.mcp_servers, read: (names) => value([...names]) },
  max_tokens: { ...fields.max_tokens, read: readNumber },
  context_limit: { ...fields.context_limit, read: readNumber },
  max_steps: { ...fields.max_steps, read: readNumber },
  idle_timeout_s: { ...fields.idle_timeout_s, read: readNumber },
  approval: { ...fields.approval, read: value },
  pinned: { ...fields.pinned, read: value },
  compaction: { ...fields.compaction, rows: 4, read: readObject },
  client_tools: { ...fields.client_tools, rows: 4, read: readArray },
  parameters: { ...fields.parameters, rows: 8, read: readObject },
  limits: { ...fields.limits, rows: 3, read: readObject },
  output_schema: { ...fields.output_schema, rows: 8, read: readSchema },
  output_retries: { ...fields.output_retries, read: readCount },
};

function value(given: Json): Read {
  return { kind: 'value', value: given };
}

function wrong(message: string): Read {
  return { kind: 'wrong', message };
}

function readNumber(text: string): Read {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? value(number) : wrong(faults.above0);
}

function readCount(text: string): Read {
  const number = Number(text);
  return Number.isInteger(number) && number >= 0 ? value(number) : wrong(faults.from0);
}

function readSchema(text: string): Read {
  return parseJson(text) === false ? value(false) : readObject(text);
}

function readObject(text: string): Read {
  const json = parseJson(text);
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? value(json) : wrong(faults.object);
}

function readArray(text: string): Read {
  const json = parseJson(text);
  return Array.isArray(json) ? value(json) : wrong(faults.array);
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
