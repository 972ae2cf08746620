/** Converts roles to their API form. */
import type { Role as Definition } from '../../core/workers/settings.ts';
import type { RoleVersionView, RoleView } from '../../db/write/workers/roles.ts';
import { toIso } from '../request/instant.ts';
import type { Role, RoleVersion } from '../schemas/workers/role.ts';

export function toRole({ name, version, definition, createdAt, updatedAt }: RoleView): Role {
  return {
    name,
    version,
    source: 'api',
    ...definition,
    created_at: toIso(createdAt),
    updated_at: toIso(updatedAt),
  };
}

/** `definition` is undefined if only another process has the role. */
export function toFileRole(name: string, definition: Definition | undefined): Role {
  return { name, version: null, source: 'file', ...definition, created_at: null, updated_at: null };
}

export function toRoleVersion({ version, definition, createdAt }: RoleVersionView): RoleVersion {
  return { version, definition, created_at: toIso(createdAt) };
}
