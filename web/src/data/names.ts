/** Names that a config or a role may say: what this installation has, so that nobody needs to know them by heart. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { contextsQuery } from './contexts.ts';
import { allOf } from './pages-of.ts';
import { systemQuery } from './system.ts';
import { rolesQuery } from './workers.ts';

/** The default, and those that roles and the contexts in sight run on. */
export function useModels(): string[] {
  const system = useQuery(systemQuery()).data;
  const roles = useQuery(rolesQuery()).data ?? [];
  const contexts = allOf(useInfiniteQuery({ ...contextsQuery(), refetchInterval: false }).data);
  const known = [
    system?.default_model,
    ...roles.map(({ model }) => model),
    ...contexts.map(({ config }) => config.model),
  ];
  return [...new Set(known.filter((model) => model !== undefined))];
}

/** Those whose keys are set. */
export function useProviders(): string[] {
  const providers = useQuery(systemQuery()).data?.providers ?? [];
  return providers.filter(({ configured }) => configured).map(({ name }) => name);
}

/** `servers`: those that are named whole; their tools need not be named one by one. */
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
