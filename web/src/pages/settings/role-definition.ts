/** The definition of a role: what a new version of it is made from. */
import type { EffectiveSettings, RoleDefinition } from 'nightshift/client';
import type { VersionedRole } from '../../data/query/workers.ts';

/**
 * What is edited: a definition, and the ETag that detects concurrent changes; null for a new role. `effective`: what applies
 * to the role; null: unknown.
 */
export type RoleBase = { definition: RoleDefinition; etag: string | null; effective: EffectiveSettings | null };

export const NEW_ROLE: RoleBase = { definition: {}, etag: null, effective: null };

export function toBase({ role, etag }: VersionedRole): RoleBase {
  const { name: _, version: _v, source: _s, created_at: _c, updated_at: _u, effective = null, ...definition } = role;
  return { definition, etag, effective };
}
