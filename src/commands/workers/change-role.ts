/**
 * Adds a version of a role of the API, or deletes the role by an empty version. The API has already validated the names
 * in it.
 */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import type { Role } from '../../core/workers/settings.ts';
import { addVersion, findRole, lastVersion, type LastVersion, type RoleView } from '../../db/write/workers/roles.ts';
import { findActive } from '../../db/write/tenants/tenants.ts';
import { done, type Command } from '../perform.ts';

type ChangeRole = {
  tenantId: TenantId;
  name: string;
  /** Whether the current version is the one that the client meant; null: there is none. */
  isCurrent: (version: number | null) => boolean;
};

/** The same definition again is no new version. Refused: `version_conflict`, `tenant_suspended`. */
export function putRole({ tenantId, name, isCurrent }: ChangeRole, definition: Role): Command<RoleView> {
  return async (tx) => {
    if (!(await findActive(tx, [tenantId])).has(tenantId)) return TENANT_INACTIVE;
    for (;;) {
      const last = await lastVersion(tx, tenantId, name, definition);
      if (!isCurrent(currentVersion(last))) return stale();
      const isNew = last?.same !== true;
      if (isNew && !(await addVersion(tx, tenantId, { name, version: (last?.version ?? 0) + 1, definition }))) continue;
      const view = await findRole(tx, tenantId, name);
      // Another request deleted it in between: try again on the new state.
      if (view !== null) return done(view);
    }
  };
}

/** Refused: `not_found`, `version_conflict`. */
export function deleteRole({ tenantId, name, isCurrent }: ChangeRole): Command<Record<string, never>> {
  return async (tx) => {
    for (;;) {
      const last = await lastVersion(tx, tenantId, name);
      const version = currentVersion(last);
      if (version === null) return refuse('not_found', `No role has the name ${name}.`);
      if (!isCurrent(version)) return stale();
      if (await addVersion(tx, tenantId, { name, version: version + 1, definition: null })) return done({});
    }
  };
}

function currentVersion(last: LastVersion | null): number | null {
  return last === null || last.deleted ? null : last.version;
}

function stale(): Refusal {
  return refuse('version_conflict', 'The role has changed since you read it. Read it again.');
}
