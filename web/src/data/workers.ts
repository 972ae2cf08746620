/** What REST tells of workers, their trees and the roles that they are made from. */
import { queryOptions } from '@tanstack/react-query';
import { NightshiftError } from 'nightshift/client';
import type { Role, RoleDefinition } from 'nightshift/client';
import { client } from './client.ts';
import { keys } from './keys.ts';

export function workerQuery(id: string) {
  return queryOptions({
    queryKey: keys.worker(id),
    queryFn: ({ signal }) => client.workers.get(id, { signal }),
  });
}

export function treeQuery(id: string) {
  return queryOptions({
    queryKey: keys.tree(id),
    queryFn: ({ signal }) => client.workers.tree(id, {}, { signal }),
    refetchInterval: 3_000,
  });
}

export function rolesQuery() {
  return queryOptions({
    queryKey: keys.roles,
    queryFn: ({ signal }) => client.roles.list({ limit: 200 }, { signal }).all(),
  });
}

export type VersionedRole = { role: Role; etag: string | null };

/** `version` null: as it stands; else an older one, to be looked at. */
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
  const onEtag = (told: string): void => {
    etag = told;
  };
  const role = await client.roles.get(name, version === null ? {} : { version }, { ...options, onEtag });
  return { role, etag };
}

/** `conflict`: it was changed or made meanwhile, and `theirs` is how it stands. All else that is refused throws. */
export type RoleChange = { kind: 'changed'; role: Role } | { kind: 'conflict'; theirs: VersionedRole };

/** `etag`: of the version that is changed; null: it is new, and one that is there already is a conflict. */
export async function putRole(
  name: string,
  etag: string | null,
  definition: RoleDefinition,
): Promise<RoleChange> {
  if (etag === null) {
    const known = await client.roles.list({ limit: 200 }).all();
    if (known.some((role) => role.name === name))
      return { kind: 'conflict', theirs: await readRole(name, null, {}) };
  }
  try {
    const options = etag === null ? {} : { ifMatch: etag };
    return { kind: 'changed', role: await client.roles.put(name, definition, options) };
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'version_conflict') throw error;
    const theirs = await readRole(name, null, {}).catch(missing);
    // It was deleted meanwhile: what was written makes it anew.
    return theirs === null ? putRole(name, null, definition) : { kind: 'conflict', theirs };
  }
}

export async function deleteRole(name: string): Promise<void> {
  await client.roles.delete(name);
}

function missing(error: unknown): null {
  if (error instanceof NightshiftError && error.code === 'not_found') return null;
  throw error;
}
