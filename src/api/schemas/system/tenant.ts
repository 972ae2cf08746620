/** Tenants in the API. */
import { Type, type Static, type TSchema } from 'typebox';
import { LEAST_WEIGHT, MOST_ALLOWED, MOST_WEIGHT, TENANT_STATUSES } from '../../../core/access/tenant.ts';
import { nullable, oneOf, partial, plainText, strict } from '../../../schema/build.ts';
import { Count, Instant, described, listOf } from '../common.ts';

export const TenantName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' });

const Weight = Type.Number({
  minimum: LEAST_WEIGHT,
  maximum: MOST_WEIGHT,
  description: 'Its share of the slots while several tenants have work; 1 by default.',
});

const Names = Type.Array(plainText(200, 1), { maxItems: MOST_ALLOWED, uniqueItems: true });

function perKind<Schema extends TSchema>(list: Schema) {
  return {
    tools: described(list, 'Names of tools, also those of MCP servers (`server__tool`).'),
    roles: described(list, 'Names of roles, of the API or the config file.'),
    mcp_servers: described(list, 'Names of MCP servers of the config file.'),
    models: described(list, 'Names of models, `provider/model`.'),
  };
}

const ALLOW = 'What its workers may use. `*` in a name stands for any characters; null allows everything.';

export const Tenant = strict(
  {
    name: TenantName,
    status: oneOf(
      TENANT_STATUSES,
      'suspended: all requests are refused, and nothing runs. deleting: its data is being deleted.',
    ),
    limits: strict({ weight: Weight }),
    allow: strict(perKind(nullable(Names)), { description: ALLOW }),
    created_at: Instant,
    deletion: nullable(strict({ requested_at: Instant, deleted_workers: Count })),
  },
  { $id: 'Tenant' },
);
export type Tenant = Static<typeof Tenant>;

export const TenantList = listOf('TenantList', Tenant);

const Limits = partial({ weight: nullable(Weight) });
const Allowed = partial(perKind(nullable(Names)), { description: ALLOW });

export const CreateTenant = strict(
  { name: TenantName, limits: Type.Optional(Limits), allow: Type.Optional(Allowed) },
  { $id: 'CreateTenant' },
);

export const PatchTenant = partial(
  { status: oneOf(['active', 'suspended']), limits: Limits, allow: Allowed },
  { $id: 'PatchTenant', description: 'Members that are missing do not change. Null is the default.' },
);

export const TenantParams = Type.Object({ name: TenantName });
