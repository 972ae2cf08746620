/** Roles on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Instant, MAX_BYTES, SETTINGS_BYTES, Page, listOf, nullable, oneOf, strict } from './common.ts';
import { WorkerConfig } from './config.ts';

export const RoleDefinition = strict(WorkerConfig.properties, {
  $id: 'RoleDefinition',
  description:
    'What is not given falls to the defaults, for workers whose config does not say it. At most 64 KB of JSON.',
  [MAX_BYTES]: SETTINGS_BYTES,
});

export const Role = strict(
  {
    name: Type.String(),
    version: nullable(
      Type.Integer({ minimum: 1, description: 'Null of the config file, whose roles have none.' }),
    ),
    source: oneOf(
      ['api', 'file'],
      '`file`: of the config file, and read-only; what of it this process does not know is left out.',
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
      description: 'An older one, also of a role that was deleted.',
    }),
  ),
});

export const RoleParams = strict({ name: Type.String() });
