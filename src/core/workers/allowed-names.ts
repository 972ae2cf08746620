/** Decides what the workers of a tenant may use, by the lists that the operator sets. Pure; no other code reads them. */
import { isMatch } from '../run/policy.ts';
import type { Allow } from '../access/tenant.ts';
import { serverOf } from '../tools/mcp-tool-name.ts';
import type { WorkerConfig } from './settings.ts';

export type AllowKind = keyof Allow;

/** No list limits the tenant. */
export const ALL_ALLOWED: Allow = {};

/** Whether the list of this kind, if there is one, has the name. A tool of an MCP server needs its server too. */
export function isAllowed(allow: Allow, kind: AllowKind, name: string): boolean {
  const isListed = allow[kind]?.some((pattern) => isMatch(pattern, name)) ?? true;
  const server = kind === 'tools' ? serverOf(name) : null;
  return isListed && (server === null || isAllowed(allow, 'mcp_servers', server));
}

/** Those of the names that the tenant may use. */
export function allowedOf(allow: Allow, kind: AllowKind, names: readonly string[]): string[] {
  return names.filter((name) => isAllowed(allow, kind, name));
}

/**
 * The config without the tools, the servers and the unused model for summaries that the tenant may not use. A compaction
 * that a client requests then uses the worker's own model.
 */
export function usableConfig(allow: Allow, config: WorkerConfig): WorkerConfig {
  const { tools, mcp_servers, compaction } = config;
  const { model, ...withoutModel } = compaction ?? {};
  const isDropped = model !== undefined && compaction?.type !== 'llm' && !isAllowed(allow, 'models', model);
  return {
    ...config,
    ...(tools !== undefined && { tools: allowedOf(allow, 'tools', tools) }),
    ...(mcp_servers !== undefined && { mcp_servers: allowedOf(allow, 'mcp_servers', mcp_servers) }),
    ...(isDropped && { compaction: withoutModel }),
  };
}

/** Names of one kind that a tenant may not use. `at`: the member of the config that has them. */
export type Disallowed = { kind: AllowKind; at: readonly string[]; names: string[] };

/** What a config names and the tenant may not use. */
export function disallowedIn(allow: Allow, config: WorkerConfig): Disallowed[] {
  const { model, tools = [], mcp_servers = [], compaction } = config;
  const named: Disallowed[] = [
    { kind: 'models', at: ['model'], names: model === undefined ? [] : [model] },
    { kind: 'models', at: ['compaction', 'model'], names: compaction?.model === undefined ? [] : [compaction.model] },
    { kind: 'tools', at: ['tools'], names: tools },
    { kind: 'mcp_servers', at: ['mcp_servers'], names: mcp_servers },
  ];
  return named
    .map((one) => ({ ...one, names: one.names.filter((name) => !isAllowed(allow, one.kind, name)) }))
    .filter(({ names }) => names.length > 0);
}

const KINDS: Readonly<Record<AllowKind, string>> = {
  tools: 'tool',
  roles: 'role',
  mcp_servers: 'MCP server',
  models: 'model',
};

/** Names and patterns that a message lists, at most, and the characters of each. */
const SHOWN = 10;
const LONGEST = 100;

/** For a person or a model. */
export function notAllowed(allow: Allow, kind: AllowKind, names: readonly string[]): string {
  const what = KINDS[kind];
  const which = `the ${what}${names.length === 1 ? '' : 's'} ${listed(names.map(quoted))}`;
  const lists = kind === 'tools' && allow.mcp_servers !== undefined ? (['tools', 'mcp_servers'] as const) : [kind];
  const choices = lists.flatMap((one) => {
    const patterns = allow[one];
    return patterns === undefined ? [] : [`Allowed ${KINDS[one]}s: ${listed(patterns.map(shortened))}.`];
  });
  return [`The operator does not allow ${which} for this tenant.`, ...choices].join(' ');
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, SHOWN);
  const left = names.length - shown.length;
  return `${shown.join(', ')}${left === 0 ? '' : ` and ${left} more`}`;
}

function quoted(name: string): string {
  return `"${shortened(name)}"`;
}

function shortened(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
}
