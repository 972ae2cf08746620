/** Names: those of contexts and workers, and suggestions in configs and roles. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { contextName, shortId } from './format.ts';
import { contextQuery, contextsQuery } from './query/contexts.ts';
import { allOf } from './query/pages-of.ts';
import { systemQuery } from './query/system.ts';
import { rolesQuery, workerQuery } from './query/workers.ts';

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

/** How long a name that is shown for an id may be out of date. */
export const NAMED_MS = 60_000;

/** The name of a context, else its short id: while it is not loaded, or after it was deleted. `undefined`: none. */
export function useContextName(id: string | undefined): string {
  const { data } = useQuery({ ...contextQuery(id ?? ''), enabled: id !== undefined, staleTime: NAMED_MS });
  return data === undefined ? shortId(id ?? '') : contextName(data);
}

/** As `useContextName`. */
export function useWorkerName(id: string | undefined): string {
  const { data } = useQuery({ ...workerQuery(id ?? ''), enabled: id !== undefined, staleTime: NAMED_MS });
  return data?.name ?? shortId(id ?? '');
}
