/** Cancelling jobs by filter in the API. */
import { Type, type Static } from 'typebox';
import { JOB_KINDS, UNFINISHED_STATUSES } from '../../../core/run/job.ts';
import type { Json } from '../../../core/json.ts';
import { Count, Uuid } from '../common.ts';
import { oneOf, plainText, strict } from '../../../schema/build.ts';
import { RoleName } from '../../../schema/config.ts';

/** The filters, at least one of which is required. */
export const CANCEL_FILTERS = ['context_id', 'worker_id', 'role', 'status', 'kind', 'metadata'] as const;

export const CancelJobs = strict(
  {
    context_id: Type.Optional(Uuid),
    worker_id: Type.Optional(Type.String({ format: 'uuid', description: 'Includes all workers below it.' })),
    role: Type.Optional(RoleName),
    status: Type.Optional(oneOf(UNFINISHED_STATUSES)),
    kind: Type.Optional(oneOf(JOB_KINDS)),
    metadata: Type.Optional(
      Type.Unsafe<{ [key: string]: Json }>({
        type: 'object',
        minProperties: 1,
        description: 'Must be contained in the metadata of the job.',
      }),
    ),
    reason: Type.Optional(plainText(1_000)),
  },
  {
    $id: 'CancelJobs',
    description: `At least one of ${CANCEL_FILTERS.join(', ')}. A job must match all given filters.`,
  },
);

export const Cancelled = strict(
  { count: Count },
  { $id: 'Cancelled', description: 'Number of unfinished jobs that this request cancels.' },
);
export type Cancelled = Static<typeof Cancelled>;
