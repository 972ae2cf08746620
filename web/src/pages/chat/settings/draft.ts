/**
 * The settings of a worker as form values; an empty value means “from the role”. A draft is compared with the draft it
 * started from, so that only changed members are sent.
 */
import type { ApprovalRule, Context, Json, PatchContext, PinnedText } from 'nightshift/client';

export type Draft = {
  title: string;
  model: string;
  mode: 'role' | 'act' | 'plan';
  streaming: 'role' | 'on' | 'off';
  system_prompt: string;
  tools: readonly string[];
  mcp_servers: readonly string[];
  max_tokens: string;
  context_limit: string;
  max_steps: string;
  idle_timeout_s: string;
  approval: ApprovalRule[];
  pinned: PinnedText[];
  compaction: string;
  client_tools: string;
  parameters: string;
  limits: string;
};

export type Member = keyof Draft;

export const NAMES: Readonly<Record<Member, string>> = {
  title: 'Title',
  model: 'Model',
  mode: 'Mode',
  streaming: 'Streaming',
  system_prompt: 'System prompt',
  tools: 'Tools',
  mcp_servers: 'MCP servers',
  max_tokens: 'Max tokens',
  context_limit: 'Context limit',
  max_steps: 'Max steps',
  idle_timeout_s: 'Idle timeout',
  approval: 'Approval rules',
  pinned: 'Pinned texts',
  compaction: 'Compaction',
  client_tools: 'Client tools',
  parameters: 'Parameters',
  limits: 'Limits',
};

export const MEMBERS = Object.keys(NAMES) as Member[];

export function toDraft({ title, config }: Pick<Context, 'title' | 'config'>): Draft {
  const { streaming } = config;
  return {
    title: title ?? '',
    model: config.model ?? '',
    mode: config.mode ?? 'role',
    streaming: streaming === undefined ? 'role' : streaming ? 'on' : 'off',
    system_prompt: config.system_prompt ?? '',
    tools: config.tools ?? [],
    mcp_servers: config.mcp_servers ?? [],
    max_tokens: toText(config.max_tokens),
    context_limit: toText(config.context_limit),
    max_steps: toText(config.max_steps),
    idle_timeout_s: toText(config.idle_timeout_s),
    approval: config.approval ?? [],
    pinned: config.pinned ?? [],
    compaction: toJson(config.compaction),
    client_tools: toJson(config.client_tools),
    parameters: toJson(config.parameters),
    limits: toJson(config.limits),
  };
}

export function isSame(one: Draft, other: Draft, member: Member): boolean {
  return JSON.stringify(one[member]) === JSON.stringify(other[member]);
}

/** Members that differ. */
export function changed(base: Draft, draft: Draft): Member[] {
  return MEMBERS.filter((member) => !isSame(base, draft, member));
}

export type Read =
  | { kind: 'patch'; patch: PatchContext }
  | { kind: 'wrong'; member: Member; message: string };

/** Builds a PATCH of the changed members; an emptied member is sent as null. The API validates the values. */
export function toPatch(base: Draft, draft: Draft): Read {
  const touched = changed(base, draft);
  const config: Record<string, Json> = {};
  for (const member of touched) {
    if (member === 'title') continue;
    const read = readMember(draft, member);
    if (read.kind === 'wrong') return { kind: 'wrong', member, message: read.message };
    config[member] = read.value;
  }
  const title = draft.title.trim() === '' ? null : draft.title.trim();
  const patch: PatchContext = {
    ...(touched.includes('title') ? { title } : {}),
    // The member names match the schema; the API validates the values.
    ...(Object.keys(config).length > 0 ? { config } : {}),
  };
  return { kind: 'patch', patch };
}

type Value = { kind: 'value'; value: Json } | { kind: 'wrong'; message: string };

function readMember(draft: Draft, member: Exclude<Member, 'title'>): Value {
  switch (member) {
    case 'model':
    case 'system_prompt':
      return value(draft[member].trim() === '' ? null : draft[member]);
    case 'mode':
      return value(draft.mode === 'role' ? null : draft.mode);
    case 'streaming':
      return value(draft.streaming === 'role' ? null : draft.streaming === 'on');
    case 'max_tokens':
    case 'context_limit':
    case 'max_steps':
    case 'idle_timeout_s':
      return readNumber(draft[member]);
    case 'tools':
    case 'mcp_servers':
      return value(draft[member].length === 0 ? null : [...draft[member]]);
    case 'approval':
    case 'pinned':
      return value(draft[member].length === 0 ? null : draft[member].map((one) => ({ ...one })));
    case 'compaction':
    case 'client_tools':
    case 'parameters':
    case 'limits':
      return readJson(draft[member]);
  }
}

function value(given: Json): Value {
  return { kind: 'value', value: given };
}

function readNumber(text: string): Value {
  if (text.trim() === '') return value(null);
  const number = Number(text);
  return Number.isInteger(number) ? value(number) : { kind: 'wrong', message: 'Enter a whole number.' };
}

function readJson(text: string): Value {
  if (text.trim() === '') return value(null);
  try {
    return value(JSON.parse(text));
  } catch {
    return { kind: 'wrong', message: 'Enter valid JSON.' };
  }
}

function toText(number: number | undefined): string {
  return number === undefined ? '' : String(number);
}

function toJson(given: unknown): string {
  return given === undefined ? '' : JSON.stringify(given, null, 2);
}
