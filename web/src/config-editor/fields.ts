/** Every field of a config: what it is called, and how its value is read. The API validates more than its form. */
import type { Json } from 'nightshift/client';
import type { ConfigDraft, ConfigMember } from './draft.ts';

export type Read = { kind: 'value'; value: Json } | { kind: 'wrong'; message: string };

export type FieldDefinition<Written> = {
  label: string;
  hint?: string;
  /** Of a text area. */
  rows?: number;
  /** Reads a value that is not empty. */
  read: (written: Written) => Read;
};

export const FIELDS: { readonly [Member in ConfigMember]: FieldDefinition<ConfigDraft[Member]> } = {
  model: { label: 'Model', read: (text) => value(text.trim()) },
  mode: { label: 'Mode', read: value },
  streaming: { label: 'Streaming', read: (chosen) => value(chosen === 'on') },
  system_prompt: { label: 'System prompt', rows: 8, read: value },
  tools: { label: 'Tools', read: (names) => value([...names]) },
  mcp_servers: {
    label: 'MCP servers',
    hint: 'Includes all tools of a server.',
    read: (names) => value([...names]),
  },
  max_tokens: { label: 'Max tokens', hint: 'Output tokens per answer.', read: readNumber },
  context_limit: { label: 'Context limit', hint: 'Tokens per prompt.', read: readNumber },
  max_steps: { label: 'Max steps', hint: 'Model calls per job.', read: readNumber },
  idle_timeout_s: {
    label: 'Idle timeout',
    hint: 'Seconds without activity until the context is archived.',
    read: readNumber,
  },
  approval: { label: 'Approval rules', read: value },
  pinned: { label: 'Pinned texts', read: value },
  compaction: {
    label: 'Compaction',
    hint: 'JSON object: type (threshold, llm, none), threshold, keep_turns, model.',
    rows: 4,
    read: readObject,
  },
  client_tools: {
    label: 'Client tools',
    hint: 'JSON array of objects with name, description and input_schema.',
    rows: 4,
    read: readArray,
  },
  parameters: {
    label: 'Parameters',
    hint: 'JSON object, passed to the provider unchanged.',
    rows: 8,
    read: readObject,
  },
  limits: {
    label: 'Limits',
    hint: 'JSON object with the limits of workers below this one: depth, children, workers.',
    rows: 3,
    read: readObject,
  },
  output_schema: {
    label: 'Output schema',
    hint: 'JSON Schema that answers must match; false: any text.',
    rows: 8,
    read: readSchema,
  },
  output_retries: {
    label: 'Output retries',
    hint: 'How often the model is asked again after an answer that does not match. Default: 2.',
    read: readCount,
  },
};

function value(given: Json): Read {
  return { kind: 'value', value: given };
}

function wrong(message: string): Read {
  return { kind: 'wrong', message };
}

function readNumber(text: string): Read {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? value(number) : wrong('Enter a whole number above 0.');
}

function readCount(text: string): Read {
  const number = Number(text);
  return Number.isInteger(number) && number >= 0 ? value(number) : wrong('Enter a whole number, 0 or above.');
}

function readSchema(text: string): Read {
  return parseJson(text) === false ? value(false) : readObject(text);
}

function readObject(text: string): Read {
  const json = parseJson(text);
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? value(json) : wrong('Enter a JSON object.');
}

function readArray(text: string): Read {
  const json = parseJson(text);
  return Array.isArray(json) ? value(json) : wrong('Enter a JSON array.');
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
