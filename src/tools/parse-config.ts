/** What the operator's file exports, checked as a whole. Pure but for the schemas it compiles. */
import type { Role } from '../core/settings.ts';
import { entriesOf, fault, list, members, name, optional } from './member.ts';
import type { Member } from './member.ts';
import { parseLimits } from './parse-limits.ts';
import type { SetLimits } from './parse-limits.ts';
import { parseRole } from './parse-role.ts';
import { parseTool } from './parse-tool.ts';
import type { Tool } from './tool.ts';

export type OperatorSettings = {
  tools: readonly Tool[];
  roles: ReadonlyMap<string, Role>;
  limits: SetLimits;
};

export const NO_SETTINGS: OperatorSettings = { tools: [], roles: new Map(), limits: {} };

export type ParsedConfig = { ok: true; settings: OperatorSettings } | { ok: false; faults: string[] };

const SHAPE = { what: 'the configuration', known: ['tools', 'roles', 'limits'], notBuilt: ['mcp_servers'] };

export function parseConfig(value: unknown): ParsedConfig {
  const faults: string[] = [];
  const member = { value, path: '', faults };
  const of = members(member, SHAPE);
  if (of === null) return { ok: false, faults };
  const tools = optional(of('tools'), list(parseTool)) ?? [];
  const names = toolNames(of('tools'));
  const roles = optional(of('roles'), (at) => parseRoles(at, names)) ?? new Map<string, Role>();
  const limits = optional(of('limits'), parseLimits) ?? {};
  return faults.length === 0 ? { ok: true, settings: { tools, roles, limits } } : { ok: false, faults };
}

/** The names as written, of broken tools too, so that one fault is not told twice. Notes names that occur twice. */
function toolNames({ value, path, faults }: Member): ReadonlySet<string> {
  const names = new Set<string>();
  if (!Array.isArray(value)) return names;
  const items: unknown[] = value;
  for (const [index, item] of items.entries()) {
    if (typeof item !== 'object' || item === null || !('name' in item) || typeof item.name !== 'string')
      continue;
    if (names.has(item.name)) {
      fault({ value, path: `${path}[${index}].name`, faults }, `another tool is named ${item.name}`);
    }
    names.add(item.name);
  }
  return names;
}

function parseRoles(member: Member, tools: ReadonlySet<string>): Map<string, Role> {
  const roles = new Map<string, Role>();
  for (const entry of entriesOf(member) ?? []) {
    const key = name({ ...entry, value: entry.key });
    const role = parseRole(tools)(entry);
    if (key !== null && role !== null) roles.set(key, role);
  }
  return roles;
}
