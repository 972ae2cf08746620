/** Converts roles to their API form. */
import type { Role as Definition } from '../../core/workers/settings.ts';
import type { RoleView } from '../../db/write/workers/roles.ts';
import { toIso } from '../request/instant.ts';
import type { Role } from '../schemas/workers/role.ts';

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
