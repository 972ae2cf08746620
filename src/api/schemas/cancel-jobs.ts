/** Cancel by filter on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { JOB_KINDS, UNFINISHED_STATUSES } from '../../core/job.ts';
import type { Json } from '../../core/json.ts';
import { Count, Uuid, oneOf, plainText, strict } from './common.ts';
import { RoleName } from './config.ts';

/** Of which at least one must be given. */
export const CANCEL_FILTERS = ['context_id', 'worker_id', 'role', 'status', 'kind', 'metadata'] as const;

export const CancelJobs = strict(
  {
    context_id: Type.Optional(Uuid),
    worker_id: Type.Optional(Type.String({ format: 'uuid', description: 'With all workers below it.' })),
    role: Type.Optional(RoleName),
    status: Type.Optional(oneOf(UNFINISHED_STATUSES)),
    kind: Type.Optional(oneOf(JOB_KINDS)),
    metadata: Type.Optional(
      Type.Unsafe<{ [key: string]: Json }>({
        type: 'object',
        minProperties: 1,
        description: 'Must be contained in that of the job.',
      }),
    ),
    reason: Type.Optional(plainText(1_000)),
  },
  {
    $id: 'CancelJobs',
    description: `At least one of ${CANCEL_FILTERS.join(', ')}; a job must meet all that are given.`,
  },
);

export const Cancelled = strict(
  { count: Count },
  { $id: 'Cancelled', description: 'How many unfinished jobs were told to stop by this request.' },
);
export type Cancelled = Static<typeof Cancelled>;
