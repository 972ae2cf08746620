/** Tenants in the API. */
import { Type, type Static, type TSchema } from 'typebox';
import { LEAST_WEIGHT, MOST_ALLOWED, MOST_WEIGHT, TENANT_STATUSES } from '../../../core/access/tenant.ts';
import { LIMIT_RANGES, type LimitName } from '../../../core/access/quotas.ts';
import { integer, nullable, oneOf, partial, plainText, strict } from '../../../schema/build.ts';
import { Count, Instant, described, listOf } from '../common.ts';

export const TenantName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' });

const Weight = Type.Number({
  minimum: LEAST_WEIGHT,
  maximum: MOST_WEIGHT,
  description: 'Its share of the slots while several tenants have work; 1 by default.',
});

/** What each limit counts. */
const MEANINGS: Readonly<Record<LimitName, string>> = {
  requests_per_s: 'Requests in a second.',
  concurrent_requests: 'Requests that one API process serves at once, without event streams.',
  slots: 'Contexts that run at once.',
  queued_jobs: 'Queued and delayed jobs.',
  workers: 'Workers, archived ones too.',
  streams: 'Event streams of one API process.',
  stored_mb: 'Content of all messages in MB, 1,048,576 bytes.',
  upload_mb: 'Size of the body of a request in MB, 1,048,576 bytes.',
  sql_ms: 'Time of one statement of a read that may take long, in milliseconds.',
};

export function perLimit<Schema extends TSchema>(schemaOf: (name: LimitName) => Schema): Record<LimitName, Schema> {
  return {
    requests_per_s: schemaOf('requests_per_s'),
    concurrent_requests: schemaOf('concurrent_requests'),
    slots: schemaOf('slots'),
    queued_jobs: schemaOf('queued_jobs'),
    workers: schemaOf('workers'),
    streams: schemaOf('streams'),
    stored_mb: schemaOf('stored_mb'),
    upload_mb: schemaOf('upload_mb'),
    sql_ms: schemaOf('sql_ms'),
  };
}

export function limitSchema(name: LimitName) {
  const { least, most } = LIMIT_RANGES[name];
  return nullable(integer(least, most, MEANINGS[name]));
}

const LIMITS = 'Null: as the config file says (`limits.tenant`), or no limit.';

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
    limits: strict({ weight: Weight, ...perLimit(limitSchema) }, { description: LIMITS }),
    allow: strict(perKind(nullable(Names)), { description: ALLOW }),
    created_at: Instant,
    deletion: nullable(strict({ requested_at: Instant, deleted_workers: Count })),
  },
  { $id: 'Tenant' },
);
export type Tenant = Static<typeof Tenant>;

export const TenantList = listOf('TenantList', Tenant);

const Limits = partial({ weight: nullable(Weight), ...perLimit(limitSchema) }, { description: LIMITS });
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
