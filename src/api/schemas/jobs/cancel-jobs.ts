/** Cancelling jobs by filter in the API. */
import { Type, type Static } from 'typebox';
import { JOB_KINDS, UNFINISHED_STATUSES } from '../../../core/run/job.ts';
import { Count, JsonObject, UserName, Uuid, described } from '../common.ts';
import { oneOf, plainText, strict } from '../../../schema/build.ts';
import { RoleName } from '../../../schema/config.ts';

export const CANCEL_FILTERS = ['context_id', 'worker_id', 'user', 'role', 'status', 'kind', 'metadata'] as const;

export const CancelJobs = strict(
  {
    context_id: Type.Optional(Uuid),
    worker_id: Type.Optional(described(Uuid, 'Includes all workers below it.')),
    user: Type.Optional(UserName),
    role: Type.Optional(RoleName),
    status: Type.Optional(oneOf(UNFINISHED_STATUSES)),
    kind: Type.Optional(oneOf(JOB_KINDS)),
    metadata: Type.Optional(
      Type.Unsafe<Static<typeof JsonObject>>({
        ...JsonObject,
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
