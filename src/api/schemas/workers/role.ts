/** Roles in the API. */
import { Type, type Static } from 'typebox';
import { Instant, Positive, described, listOf } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { INCLUDED, WITH_EFFECTIVE } from './effective.ts';
import { RoleDefinition, WorkerConfig } from '../../../schema/config.ts';

export const Role = strict(
  {
    name: Type.String(),
    version: nullable(described(Positive, 'Null for roles of the config file, which have no versions.')),
    source: oneOf(
      ['api', 'file'],
      '`file`: from the config file, read-only. If only other processes have the role, its settings are missing.',
    ),
    ...WorkerConfig.properties,
    created_at: nullable(Instant),
    updated_at: nullable(Instant),
  },
  { $id: 'Role' },
);
export type Role = Static<typeof Role>;

/** Of one role that is read. */
export const ReadRole = strict({ ...Role.properties, ...INCLUDED }, { $id: 'ReadRole' });
export type ReadRole = Static<typeof ReadRole>;

export const RoleVersion = strict(
  {
    version: Positive,
    definition: nullable(described(ref(RoleDefinition), 'Null: this version deleted the role.')),
    created_at: Instant,
  },
  { $id: 'RoleVersion' },
);
export type RoleVersion = Static<typeof RoleVersion>;

export const RoleVersionList = listOf('RoleVersionList', RoleVersion);

export const RoleList = listOf('RoleList', Role);

export const RoleQuery = strict({
  ...WITH_EFFECTIVE,
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'An older version; also of a deleted role.',
    }),
  ),
});

export const RoleParams = strict({ name: Type.String() });
