/** Which roles there are: those of the config file, and those of a tenant beside them. A name of the file hides the other. */
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import type { WorkerRole } from '../core/settings.ts';
import { lastVersion, listRoleNames } from '../db/roles.ts';
import { list, quote } from './catalog.ts';
import type { Catalog } from './catalog.ts';
import type { ApiPorts } from './ports.ts';

type Ports = Pick<ApiPorts, 'catalog' | 'database'>;

/** So many of a tenant's roles are named where one is unknown. */
const NAMED = 50;

/** Sorted: of this process's own file, and of those of the processes that live. */
export async function fileRoleNames(catalog: Catalog): Promise<string[]> {
  const published = await catalog.names();
  return [...new Set([...catalog.fileRoles.keys(), ...(published?.roles ?? [])])].sort();
}

/** What a worker of that role is made from: the version that stands. Refused: `unknown_role`. */
export async function roleToMakeFrom(
  { catalog, database }: Ports,
  tenantId: TenantId,
  name: string | null | undefined,
): Promise<WorkerRole | Refusal | null> {
  if (name === null || name === undefined) return null;
  const ofFile = await fileRoleNames(catalog);
  if (ofFile.includes(name)) return { name, version: null };
  const last = await lastVersion(database.db, tenantId, name);
  if (last !== null && !last.buried) return { name, version: last.version };
  // Where nobody ever published anything, it is not known what there is.
  if (last === null && (await catalog.names()) === null) return { name, version: null };
  const ofTenant = await listRoleNames(database.db, tenantId, ofFile, NAMED);
  const known = [...ofFile, ...ofTenant].sort();
  const message = `There is no role ${quote(name)}. Known roles: ${list(known)}.`;
  return refuse('unknown_role', message, 'role');
}
