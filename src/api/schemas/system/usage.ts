/** What a tenant uses of its limits, in the API. */
import type { Static } from 'typebox';
import { nullable, strict } from '../../../schema/build.ts';
import { Count, described } from '../common.ts';
import { limitSchema, perLimit } from './tenant.ts';

const Used = described(nullable(Count), 'Null: it is not counted.');

export const TenantUsage = strict(
  {
    limits: strict(
      perLimit((name) => strict({ limit: limitSchema(name), used: Used })),
      { description: 'Each limit, null: none, and what is used of it now.' },
    ),
  },
  { $id: 'TenantUsage' },
);
export type TenantUsage = Static<typeof TenantUsage>;
