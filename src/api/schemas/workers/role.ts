/** Roles in the API. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Instant, MAX_BYTES, SETTINGS_BYTES, Page, listOf, nullable, oneOf, strict } from '../common.ts';
import { WorkerConfig } from './config.ts';

export const RoleDefinition = strict(WorkerConfig.properties, {
  $id: 'RoleDefinition',
  description:
    'Settings of workers with this role; the config of a worker overrides them. Missing fields use the defaults. At most 64 KB of JSON.',
  [MAX_BYTES]: SETTINGS_BYTES,
});

export const Role = strict(
  {
    name: Type.String(),
    version: nullable(
      Type.Integer({ minimum: 1, description: 'Null for roles of the config file, which have no versions.' }),
    ),
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

export const RoleList = listOf('RoleList', Role);

export const RoleListQuery = strict(Page);

export const RoleQuery = strict({
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'An older version; also of a deleted role.',
    }),
  ),
});

export const RoleParams = strict({ name: Type.String() });
