/** Reads the changed fields of a draft. The member names match the schema; the API validates the values. */
import type { ConfigPatch, Json } from 'nightshift/client';
import type { ConfigDraft, ConfigMember } from './draft.ts';

/** Messages by field. */
export type Faults = { readonly [Member in ConfigMember]?: string };

/** `patch` has the changed fields, with null for an emptied one; it is null if a field cannot be read. */
export type Changes = { patch: ConfigPatch | null; faults: Faults };

export function readChanges(base: ConfigDraft, draft: ConfigDraft): Changes {
  const patch: Record<string, Json> = {};
  const faults: { [Member in ConfigMember]?: string } = {};
  for (const member of MEMBERS) {
    if (isSame(base[member], draft[member])) continue;
    const read = readMember(draft, member);
    if (read.kind === 'value') patch[member] = read.value;
    else faults[member] = read.message;
  }
  return { patch: Object.keys(faults).length === 0 ? patch : null, faults };
}

/** Whether two form values are equal. */
export function isSame(one: ConfigDraft[ConfigMember], other: ConfigDraft[ConfigMember]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

type Value = { kind: 'value'; value: Json } | { kind: 'wrong'; message: string };

type Readers = { readonly [Member in ConfigMember]: (written: ConfigDraft[Member]) => Value };

/** For values that are not empty. */
const READERS: Readers = {
  model: (text) => value(text.trim()),
  mode: value,
  streaming: (chosen) => value(chosen === 'on'),
  system_prompt: value,
  tools: (names) => value([...names]),
  mcp_servers: (names) => value([...names]),
  max_tokens: readNumber,
  context_limit: readNumber,
  max_steps: readNumber,
  idle_timeout_s: readNumber,
  approval: value,
  pinned: value,
  compaction: readObject,
  client_tools: readArray,
  parameters: readObject,
  limits: readObject,
};

const MEMBERS = Object.keys(READERS) as ConfigMember[];

function readMember<Member extends ConfigMember>(draft: ConfigDraft, member: Member): Value {
  const written: ConfigDraft[Member] = draft[member];
  const isEmpty = (typeof written === 'string' ? written.trim() : written).length === 0;
  return isEmpty ? value(null) : READERS[member](written);
}

function value(given: Json): Value {
  return { kind: 'value', value: given };
}

function readNumber(text: string): Value {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? value(number) : wrong('Enter a whole number above 0.');
}

function readObject(text: string): Value {
  const json = parseJson(text);
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? value(json) : wrong('Enter a JSON object.');
}

function readArray(text: string): Value {
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

function wrong(message: string): Value {
  return { kind: 'wrong', message };
}
