/** Outboxes of services in the config file: where worker processes relay submissions from, and for which tenants. */
import { Type, type Static } from 'typebox';
import type { OutboxSettings } from '../../../core/submissions/outbox.ts';
import { NAME } from '../../../schema/patterns.ts';
import { byName, formatted } from '../file-validator.ts';

/** Each row of an outbox is compared with all of them. */
const MOST_TENANTS = 10_000;

const Tenant = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' });

const Outbox = Type.Object(
  {
    url: formatted('postgres-url'),
    schema: Type.Optional(formatted('schema')),
    tenants: Type.Array(Tenant, { minItems: 1, maxItems: MOST_TENANTS, uniqueItems: true }),
  },
  { additionalProperties: false },
);

export const Outboxes = byName(Type.String({ pattern: NAME }), Outbox);

/** The outbox of a service, made there by `nightshift outbox install`. */
export type OutboxDefinition = {
  /** Of the service's database, with a login that may relay the outbox: `postgres://…`. */
  url: string | undefined;
  /** The schema of the outbox. Default: that of the tables of Nightshift. */
  schema?: string | undefined;
  /** The tenants for which the service may submit jobs. Rows of other tenants are refused, and stay in the outbox. */
  tenants: readonly string[];
};

export function toOutboxes(outboxes: Static<typeof Outboxes>): ReadonlyMap<string, OutboxSettings> {
  return new Map(
    Object.entries(outboxes).map(([name, { url, schema, tenants }]) => [
      name,
      { url, schema: schema ?? null, tenants },
    ]),
  );
}
