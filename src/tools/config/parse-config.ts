/** Parses the export of the config file. Pure except for the compilation of schemas. */
import type { Prices } from '../../core/money/cost.ts';
import type { Role } from '../../core/workers/settings.ts';
import { BUILT_IN_NAMES } from '../built-in/tools.ts';
import { entriesOf, fault, list, members, name, optional } from './member.ts';
import type { Member } from './member.ts';
import { parseLimits } from './parse-limits.ts';
import type { SetLimits } from './parse-limits.ts';
import { parsePrices } from './parse-prices.ts';
import { parseRole } from './parse-role.ts';
import type { Known } from './parse-role.ts';
import { parseTool } from './parse-tool.ts';
import { parseServers } from '../mcp/settings/parse-servers.ts';
import { serverOf } from '../mcp/calls/names.ts';
import type { ServerSettings } from '../mcp/settings/server-settings.ts';
import type { Tool } from '../registry/tool.ts';

export type OperatorSettings = {
  tools: readonly Tool[];
  roles: ReadonlyMap<string, Role>;
  mcpServers: ReadonlyMap<string, ServerSettings>;
  limits: SetLimits;
  prices: Prices;
};

export const NO_SETTINGS: OperatorSettings = {
  tools: [],
  roles: new Map(),
  mcpServers: new Map(),
  limits: {},
  prices: new Map(),
};

type ParsedConfig = { ok: true; settings: OperatorSettings } | { ok: false; faults: string[] };

const SHAPE = { what: 'the configuration', known: ['tools', 'roles', 'mcp_servers', 'limits', 'prices'] };

export function parseConfigFile(value: unknown): ParsedConfig {
  const faults: string[] = [];
  const member = { value, path: '', faults };
  const of = members(member, SHAPE);
  if (of === null) return { ok: false, faults };
  const tools = optional(of('tools'), list(parseTool)) ?? [];
  const mcpServers = optional(of('mcp_servers'), parseServers) ?? new Map<string, ServerSettings>();
  const servers = serverNames(of('mcp_servers'));
  const names = new Set([...toolNames(of('tools'), servers), ...BUILT_IN_NAMES]);
  const known = { tools: names, servers };
  const roles = optional(of('roles'), (at) => parseRoles(at, known)) ?? new Map<string, Role>();
  const limits = optional(of('limits'), parseLimits) ?? {};
  const prices = optional(of('prices'), parsePrices) ?? NO_SETTINGS.prices;
  return faults.length === 0
    ? { ok: true, settings: { tools, roles, mcpServers, limits, prices } }
    : { ok: false, faults };
}

/** The names of all tools, including invalid ones, so that one fault is not reported twice. Reports duplicate names. */
function toolNames({ value, path, faults }: Member, servers: ReadonlySet<string>): ReadonlySet<string> {
  const names = new Set<string>();
  if (!Array.isArray(value)) return names;
  const items: unknown[] = value;
  for (const [index, item] of items.entries()) {
    if (typeof item !== 'object' || item === null || !('name' in item) || typeof item.name !== 'string')
      continue;
    if (names.has(item.name) || BUILT_IN_NAMES.includes(item.name)) {
      fault({ value, path: `${path}[${index}].name`, faults }, `another tool has the name ${item.name}`);
    }
    const server = serverOf(item.name);
    if (server !== null && servers.has(server)) {
      const words = `names that start with ${server}__ are reserved for the tools of the MCP server ${server}`;
      fault({ value, path: `${path}[${index}].name`, faults }, words);
    }
    names.add(item.name);
  }
  return names;
}

/** The names of all servers, including invalid ones. */
function serverNames({ value }: Member): ReadonlySet<string> {
  return new Set(typeof value === 'object' && value !== null ? Object.keys(value) : []);
}

function parseRoles(member: Member, known: Known): Map<string, Role> {
  const roles = new Map<string, Role>();
  for (const entry of entriesOf(member) ?? []) {
    const key = name({ ...entry, value: entry.key });
    const role = parseRole(known)(entry);
    if (key !== null && role !== null) roles.set(key, role);
  }
  return roles;
}
