/** Parses one role of the config file. */
import { CONTEXT_LIMIT } from '../../core/compaction/settings.ts';
import type { JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { RESERVED_PARAMETERS } from '../../core/model/parameters.ts';
import { MODES } from '../../core/workers/settings.ts';
import type { ClientTool, Role } from '../../core/workers/settings.ts';
import { parseApprovalRule } from './parse-approval.ts';
import { parseClientTool } from './client-tools.ts';
import { jsonCopy } from '../run/json-copy.ts';
import { fault, flag, integer, list, members, name, oneOf, optional, text } from './member.ts';
import type { Member, Reader } from './member.ts';
import { parseCompaction, parsePinned } from './parse-compaction.ts';
import { parseWorkerLimits } from './parse-limits.ts';
import { serverOf as serverNameOf } from '../mcp/calls/names.ts';
import { model } from './parse-model.ts';

const SHAPE = {
  what: 'a role',
  known: [
    'system_prompt',
    'model',
    'streaming',
    'mode',
    'tools',
    'client_tools',
    'mcp_servers',
    'approval',
    'max_steps',
    'max_tokens',
    'context_limit',
    'compaction',
    'pinned',
    'parameters',
    'idle_timeout_s',
    'limits',
  ],
};

const MOST = 1_000_000_000;

/** The tool and server names that a role may use. */
export type Known = { tools: ReadonlySet<string>; servers: ReadonlySet<string> };

export function parseRole(known: Known): Reader<Role> {
  return (member) => {
    const of = members(member, SHAPE);
    if (of === null) return null;
    return given({
      system_prompt: optional(of('system_prompt'), text),
      model: optional(of('model'), model),
      streaming: optional(of('streaming'), flag),
      mode: optional(of('mode'), oneOf(MODES)),
      tools: optional(of('tools'), list(toolOf(known))),
      client_tools: optional(of('client_tools'), clientTools(known.tools)),
      mcp_servers: optional(of('mcp_servers'), list(serverOf(known.servers))),
      approval: optional(of('approval'), list(parseApprovalRule)),
      max_steps: optional(of('max_steps'), integer(1, MOST)),
      max_tokens: optional(of('max_tokens'), integer(1, MOST)),
      context_limit: optional(of('context_limit'), integer(CONTEXT_LIMIT.least, MOST)),
      compaction: optional(of('compaction'), parseCompaction),
      pinned: optional(of('pinned'), parsePinned),
      parameters: optional(of('parameters'), parameters),
      idle_timeout_s: optional(of('idle_timeout_s'), integer(1, LIMITS.idleTimeoutS)),
      limits: optional(of('limits'), parseWorkerLimits),
    });
  };
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null };

/** Keeps only the fields that are set, so that missing ones do not hide a default. */
function given(read: Nullable<Required<Role>>): Role {
  const { system_prompt, streaming, mode, tools, client_tools, max_steps, max_tokens, idle_timeout_s } = read;
  return {
    ...(system_prompt !== null && { system_prompt }),
    ...(read.model !== null && { model: read.model }),
    ...(streaming !== null && { streaming }),
    ...(mode !== null && { mode }),
    ...(tools !== null && { tools }),
    ...(client_tools !== null && { client_tools }),
    ...(read.mcp_servers !== null && { mcp_servers: read.mcp_servers }),
    ...(max_steps !== null && { max_steps }),
    ...(read.approval !== null && { approval: read.approval }),
    ...(max_tokens !== null && { max_tokens }),
    ...(read.context_limit !== null && { context_limit: read.context_limit }),
    ...(read.compaction !== null && { compaction: read.compaction }),
    ...(read.pinned !== null && { pinned: read.pinned }),
    ...(read.parameters !== null && { parameters: read.parameters }),
    ...(idle_timeout_s !== null && { idle_timeout_s }),
    ...(read.limits !== null && { limits: read.limits }),
  };
}

function toolOf({ tools, servers }: Known): Reader<string> {
  return (member) => {
    const tool = name(member);
    // The tools of a server are unknown until it is connected.
    if (tool === null || tools.has(tool) || servers.has(serverNameOf(tool) ?? '')) return tool;
    const names = [...tools].sort().join(', ');
    return fault(member, `unknown tool ${tool}; known tools: ${names}`);
  };
}

function serverOf(known: ReadonlySet<string>): Reader<string> {
  return (member) => {
    const server = name(member);
    if (server === null || known.has(server)) return server;
    const names = [...known].sort().join(', ');
    return fault(
      member,
      `unknown MCP server ${server}; ${names === '' ? 'none is configured' : `known servers: ${names}`}`,
    );
  };
}

/** Names must be unique and differ from all other tools. */
function clientTools(known: ReadonlySet<string>): Reader<ClientTool[]> {
  return (member) => {
    const tools = list(parseClientTool)(member) ?? [];
    for (const [index, { name: toolName }] of tools.entries()) {
      const isTaken = known.has(toolName) || tools.findIndex((tool) => tool.name === toolName) < index;
      if (isTaken) fault(member, `another tool has the name ${toolName}`);
    }
    return tools;
  };
}

function parameters(member: Member): JsonObject | null {
  const copy = jsonCopy(member.value);
  if (copy === null) return fault(member, 'must be a plain JSON object');
  const reserved = RESERVED_PARAMETERS.filter((key) => key in copy);
  return reserved.length === 0 ? copy : fault(member, `${reserved.join(', ')} cannot be set here`);
}
