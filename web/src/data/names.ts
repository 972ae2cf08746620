/** Suggestions for names in configs and roles: models, providers, tools and MCP servers of this installation. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { contextsQuery } from './query/contexts.ts';
import { allOf } from './query/pages-of.ts';
import { systemQuery } from './query/system.ts';
import { rolesQuery } from './query/workers.ts';

/** The default model, and the models of roles and loaded contexts. */
export function useModels(): string[] {
  const system = useQuery(systemQuery()).data;
  const roles = useQuery(rolesQuery()).data ?? [];
  const contexts = allOf(useInfiniteQuery(contextsQuery()).data);
  const known = [
    system?.default_model,
    ...roles.map(({ model }) => model),
    ...contexts.map(({ config }) => config.model),
  ];
  return [...new Set(known.filter((model) => model !== undefined))];
}

/** Configured providers. */
export function useProviders(): string[] {
  const providers = useQuery(systemQuery()).data?.providers ?? [];
  return providers.filter(({ configured }) => configured).map(({ name }) => name);
}

/** `servers`: MCP servers that are selected as a whole; their tools are left out. */
export function useTools(servers: readonly string[]): string[] {
  const system = useQuery(systemQuery()).data;
  const ofServers = (system?.mcp_servers ?? []).flatMap(({ name, tools }) =>
    servers.includes(name) ? [] : (tools ?? []),
  );
  return [...(system?.tools ?? []), ...ofServers].map(({ name }) => name);
}

export function useServers(): string[] {
  return (useQuery(systemQuery()).data?.mcp_servers ?? []).map(({ name }) => name);
}
