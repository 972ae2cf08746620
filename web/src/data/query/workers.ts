/** Queries for workers, worker trees and roles. */
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import {
  NightshiftError,
  type Context,
  type ReadRole,
  type Role,
  type RoleDefinition,
  type RoleVersion,
  type Worker,
  type WorkerConfig,
} from 'nightshift/client';
import { client } from '../client.ts';
import { everyMs } from '../live/changes.ts';
import { keys } from './keys.ts';
import { at, byCursor } from './pages-of.ts';

export function workerQuery(id: string) {
  return queryOptions({
    queryKey: keys.worker(id),
    queryFn: ({ signal }) => client.workers.get(id, { signal }),
  });
}

/** What limits the prompts of a worker with this config; null: it is not known here. */
export function promptLimitsQuery(id: string, config: WorkerConfig) {
  return queryOptions({
    queryKey: keys.promptLimits(id, config),
    queryFn: async ({ signal }) => {
      const { effective } = await client.workers.effective(id, { signal });
      if (effective == null) return null;
      const { type, threshold } = effective.compaction.value;
      return { tokens: effective.context_limit.value, compactsAt: type === 'none' ? null : threshold };
    },
    staleTime: Infinity,
  });
}

/** A worker with the settings that apply to it; read on each opening of its form. */
export function effectiveQuery(id: string) {
  return queryOptions({
    queryKey: keys.effective(id),
    queryFn: ({ signal }) => client.workers.effective(id, { signal }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

/** The state of its context, and why. */
export function workerStateQuery({ id, context_id: contextId }: Pick<Worker, 'id' | 'context_id'>) {
  return queryOptions({
    queryKey: keys.workerState(id),
    queryFn: ({ signal }) => client.contexts.state(contextId, { signal }),
  });
}

/** Whether it has an unfinished job. */
export function isAtWork({ state }: Pick<Worker, 'state'>): boolean {
  return state === 'working' || state === 'waiting';
}

/** Poll interval while one of the workers is active: the stream of their parent's context has no events of theirs. */
const AT_WORK_MS = 3_000;

/** The workers that the worker of a context created. */
export function childrenQuery({ id, worker_id }: Pick<Context, 'id' | 'worker_id'>, archived = false) {
  return queryOptions({
    queryKey: keys.childrenList(id, archived),
    queryFn: ({ signal }) =>
      client.workers.list({ parent_worker_id: worker_id, archived, limit: 200 }, { signal }).all(),
    refetchInterval: ({ state }) => (state.data?.some(isAtWork) === true ? everyMs(AT_WORK_MS) : false),
  });
}

export function treeQuery(id: string) {
  return queryOptions({
    queryKey: keys.tree(id),
    queryFn: ({ signal }) => client.workers.tree(id, {}, { signal }),
    refetchInterval: () => everyMs(3_000),
  });
}

export function rolesQuery() {
  return queryOptions({
    queryKey: keys.roles,
    queryFn: ({ signal }) => client.roles.list({ limit: 200 }, { signal }).all(),
  });
}

/** The names of all roles, and the chosen one even if it was deleted. */
export function useRoleNames(chosen: string | null | undefined): string[] {
  const names = (useQuery(rolesQuery()).data ?? []).map(({ name }) => name);
  return chosen == null || names.includes(chosen) ? names : [...names, chosen];
}

/** With the settings that apply to it. */
export type VersionedRole = { role: ReadRole; etag: string | null };

/** `version` null: the current version. */
export function roleQuery(name: string, version: number | null = null) {
  return queryOptions({
    queryKey: keys.role(name, version),
    queryFn: ({ signal }) => readRole(name, version, { signal }),
  });
}

async function readRole(
  name: string,
  version: number | null,
  options: { signal?: AbortSignal },
): Promise<VersionedRole> {
  let etag: string | null = null;
  const onEtag = (value: string): void => {
    etag = value;
  };
  const query = { include: 'effective' as const, ...(version !== null && { version }) };
  const role = await client.roles.get(name, query, { ...options, onEtag });
  return { role, etag };
}

/** `conflict`: the role was changed or created concurrently; `theirs` is its current version. Other errors throw. */
export type RoleChange = { kind: 'changed'; role: Role } | { kind: 'conflict'; theirs: VersionedRole };

/** `etag`: of the version that is edited; null for a new role, in which case an existing role is a conflict. */
export async function putRole(name: string, etag: string | null, definition: RoleDefinition): Promise<RoleChange> {
  if (etag === null) {
    const known = await client.roles.list({ limit: 200 }).all();
    if (known.some((role) => role.name === name)) return { kind: 'conflict', theirs: await readRole(name, null, {}) };
  }
  try {
    const options = etag === null ? {} : { ifMatch: etag };
    return { kind: 'changed', role: await client.roles.put(name, definition, options) };
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'version_conflict') throw error;
    const theirs = await readRole(name, null, {}).catch(missing);
    // The role was deleted concurrently: create it again.
    return theirs === null ? putRole(name, null, definition) : { kind: 'conflict', theirs };
  }
}

/** The versions of a role, newest first. */
export function roleVersionsQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: keys.roleVersions(name),
    queryFn: ({ pageParam, signal }) => client.roles.versions(name, { limit: 50, ...at(pageParam) }, { signal }).page(),
    ...byCursor,
    staleTime: 0,
  });
}

/** Puts the definition of an older version again, unless the role was changed since `current` was read. */
export function restoreRole(name: string, definition: RoleDefinition, current: RoleVersion): Promise<RoleChange> {
  return putRole(name, current.definition === null ? null : `"${current.version}"`, definition);
}

export async function deleteRole(name: string): Promise<void> {
  await client.roles.delete(name);
}

function missing(error: unknown): null {
  if (error instanceof NightshiftError && error.code === 'not_found') return null;
  throw error;
}
