/**
 * Finds roles of the config file and of the tenant. A role of the file hides a role of the tenant with the same name.
 */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { Database } from '../../db/connection/client.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { isAllowed, notAllowed } from '../../core/workers/allowed-names.ts';
import type { WorkerRole } from '../../core/workers/settings.ts';
import type { WorkerOfJob } from '../../db/read/jobs/shown-of-job.ts';
import { lastVersion, listRoleNames } from '../../db/write/workers/roles.ts';
import { list, quote, type Catalog } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';

type Ports = Pick<ApiPorts, 'catalog' | 'database'>;

/** Maximum number of roles of the tenant that the error for an unknown role lists. */
const NAMED = 50;

/** Sorted role names of this process's config file and of those of all live worker processes. */
export async function fileRoleNames(catalog: Catalog): Promise<string[]> {
  const published = await catalog.names();
  return [...new Set([...catalog.fileRoles.keys(), ...(published?.roles ?? [])])].sort();
}

/** The model that a worker uses unless a call names another. */
export function modelOf(
  { catalog, config }: Pick<ApiPorts, 'catalog' | 'config'>,
  { model, role, ofFile }: Pick<WorkerOfJob, 'model' | 'role' | 'ofFile'>,
): string {
  const ofRole = ofFile && role !== null ? catalog.fileRoles.get(role) : undefined;
  return model ?? ofRole?.model ?? config.defaultModel;
}

/** The current version of the role, for a new worker. Refused: `unknown_role`, or `forbidden`: its tenant may not use it. */
export async function roleToMakeFrom(
  { catalog, database }: Ports,
  { tenantId, allow }: { tenantId: TenantId; allow: Allow },
  name: string | null | undefined,
): Promise<WorkerRole | Refusal | null> {
  const current = await currentRole({ catalog, database }, { tenantId, allow }, name);
  if (current === null || 'code' in current || current.version !== null) return current;
  const ofFile = await fileRoleNames(catalog);
  // No worker process has published names yet, so the role may exist: accept it.
  if (ofFile.includes(current.name) || (await catalog.names()) === null) return current;
  return unknownRole(database, tenantId, current.name, ofFile);
}

/**
 * The same, but a role that the tenant never had is taken for one of a config file, even if no live worker process serves
 * it now.
 */
export async function currentRole(
  { catalog, database }: Ports,
  { tenantId, allow }: { tenantId: TenantId; allow: Allow },
  name: string | null | undefined,
): Promise<WorkerRole | Refusal | null> {
  if (name === null || name === undefined) return null;
  if (!isAllowed(allow, 'roles', name)) return refuse('forbidden', notAllowed(allow, 'roles', [name]), 'role');
  const ofFile = await fileRoleNames(catalog);
  if (ofFile.includes(name)) return { name, version: null };
  const last = await lastVersion(database.db, tenantId, name);
  if (last === null) return { name, version: null };
  return last.deleted ? unknownRole(database, tenantId, name, ofFile) : { name, version: last.version };
}

async function unknownRole(
  { db }: Database,
  tenantId: TenantId,
  name: string,
  ofFile: readonly string[],
): Promise<Refusal> {
  const ofTenant = await listRoleNames(db, tenantId, ofFile, NAMED);
  const known = [...ofFile, ...ofTenant].sort();
  const message = `No role has the name ${quote(name)}. Known roles: ${list(known)}.`;
  return refuse('unknown_role', message, 'role');
}
