/** What a tenant uses of its limits, in the API. */
import { Type, type Static } from 'typebox';
import { nullable, strict } from '../../../schema/build.ts';
import { Count, described } from '../common.ts';
import { limitSchema, perLimit } from './tenant.ts';

const Used = described(nullable(Count), 'Null: it is not counted.');
const UsedMb = described(
  nullable(Type.Number({ minimum: 0 })),
  'In MB, rounded up to three decimal places. Null: the tenant has no such limit, and is not measured.',
);

export const TenantUsage = strict(
  {
    limits: strict(
      perLimit((name) => strict({ limit: limitSchema(name), used: name === 'stored_mb' ? UsedMb : Used })),
      { description: 'Each limit, null: none, and what is used of it now.' },
    ),
  },
  { $id: 'TenantUsage' },
);
export type TenantUsage = Static<typeof TenantUsage>;
