/** One role of the operator's file, checked. */
import type { JsonObject } from '../core/json.ts';
import { parseModelName, PROVIDERS } from '../core/model.ts';
import { RESERVED_PARAMETERS } from '../core/settings.ts';
import type { Role } from '../core/settings.ts';
import { jsonCopy } from './json-copy.ts';
import { fault, flag, integer, list, members, name, optional, text } from './member.ts';
import type { Member, Reader } from './member.ts';

const SHAPE = {
  what: 'a role',
  known: ['system_prompt', 'model', 'streaming', 'mode', 'tools', 'max_steps', 'max_tokens', 'parameters'],
  notBuilt: [
    'mcp_servers',
    'client_tools',
    'approval',
    'context_limit',
    'compaction',
    'pinned',
    'idle_timeout_s',
    'limits',
  ],
};

const MOST = 1_000_000_000;

/** `known`: the tools that a role may name. */
export function parseRole(known: ReadonlySet<string>): Reader<Role> {
  return (member) => {
    const of = members(member, SHAPE);
    if (of === null) return null;
    optional(of('mode'), act);
    return given({
      system_prompt: optional(of('system_prompt'), text),
      model: optional(of('model'), model),
      streaming: optional(of('streaming'), flag),
      tools: optional(of('tools'), list(toolOf(known))),
      max_steps: optional(of('max_steps'), integer(1, MOST)),
      max_tokens: optional(of('max_tokens'), integer(1, MOST)),
      parameters: optional(of('parameters'), parameters),
    });
  };
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null };

/** The members that are there: what a role leaves out must not hide a default. */
function given(read: Nullable<Required<Omit<Role, 'mode'>>>): Role {
  const { system_prompt, streaming, tools, max_steps, max_tokens } = read;
  return {
    ...(system_prompt !== null && { system_prompt }),
    ...(read.model !== null && { model: read.model }),
    ...(streaming !== null && { streaming }),
    ...(tools !== null && { tools }),
    ...(max_steps !== null && { max_steps }),
    ...(max_tokens !== null && { max_tokens }),
    ...(read.parameters !== null && { parameters: read.parameters }),
  };
}

function act(member: Member): null {
  return member.value === 'act' ? null : fault(member, "is not built yet, but for 'act'");
}

function model(member: Member): string | null {
  const { value } = member;
  return typeof value === 'string' && parseModelName(value) !== null
    ? value
    : fault(member, `must be provider/model, with a provider of ${PROVIDERS.join(', ')}`);
}

function toolOf(known: ReadonlySet<string>): Reader<string> {
  return (member) => {
    const tool = name(member);
    if (tool === null || known.has(tool)) return tool;
    const names = [...known].sort().join(', ');
    return fault(
      member,
      `there is no tool ${tool}; ${names === '' ? 'there are none' : `known are ${names}`}`,
    );
  };
}

function parameters(member: Member): JsonObject | null {
  const copy = jsonCopy(member.value);
  if (copy === null) return fault(member, 'must be an object of plain JSON');
  const reserved = RESERVED_PARAMETERS.filter((key) => key in copy);
  return reserved.length === 0 ? copy : fault(member, `${reserved.join(', ')} cannot be set here`);
}
