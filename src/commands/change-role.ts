/** A role of the API gets a new version, or is deleted by one. Names in it were validated at the edge. */
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import type { Role } from '../core/settings.ts';
import { addVersion, findRole, lastVersion } from '../db/roles.ts';
import type { LastVersion, RoleView } from '../db/roles.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';

export type ChangeRole = {
  tenantId: TenantId;
  name: string;
  /** Whether what stands is what was meant; null: nothing does. */
  isCurrent: (version: number | null) => boolean;
};

/** In a transaction. What says the same again is no new version. Refused: `version_conflict`. */
export function putRole({ tenantId, name, isCurrent }: ChangeRole, definition: Role): Command<RoleView> {
  return async (tx) => {
    for (;;) {
      const last = await lastVersion(tx, tenantId, name, definition);
      if (!isCurrent(standing(last))) return stale();
      const isNew = last?.same !== true;
      if (isNew && !(await addVersion(tx, tenantId, name, (last?.version ?? 0) + 1, definition))) continue;
      const view = await findRole(tx, tenantId, name);
      // Deleted in between by somebody who was faster: once more on what stands then.
      if (view !== null) return done(view);
    }
  };
}

/** In a transaction. Refused: `not_found`, `version_conflict`. */
export function deleteRole({ tenantId, name, isCurrent }: ChangeRole): Command<Record<string, never>> {
  return async (tx) => {
    for (;;) {
      const last = await lastVersion(tx, tenantId, name);
      const version = standing(last);
      if (version === null) return refuse('not_found', `There is no role ${name}.`);
      if (!isCurrent(version)) return stale();
      if (await addVersion(tx, tenantId, name, version + 1, null)) return done({});
    }
  };
}

function standing(last: LastVersion | null): number | null {
  return last === null || last.buried ? null : last.version;
}

function stale(): Refusal {
  return refuse('version_conflict', 'The role was changed meanwhile: read it again.');
}
