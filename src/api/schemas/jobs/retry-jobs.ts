/** Retrying several jobs in the API. */
import { Type, type Static } from 'typebox';
import { JOB_KINDS } from '../../../core/run/job.ts';
import { RETRIABLE_STATUSES, RETRY_REFUSALS } from '../../../core/run/retriable.ts';
import { nullable, oneOf, plainText, strict, ref } from '../../../schema/build.ts';
import { Count, Instant, JsonObject, UserName, Uuid, described, listOf } from '../common.ts';

/** Jobs in one request. */
export const MOST_RETRIED = 500;

export const RetryFilter = strict(
  {
    status: Type.Optional(
      Type.Union(
        [
          oneOf(RETRIABLE_STATUSES),
          Type.Array(oneOf(RETRIABLE_STATUSES), { minItems: 1, maxItems: RETRIABLE_STATUSES.length }),
        ],
        { description: 'Status of the job, or several. Default: failed and incomplete.' },
      ),
    ),
    kind: Type.Optional(oneOf(JOB_KINDS)),
    user: Type.Optional(UserName),
    role: Type.Optional(plainText(256, 1, 'Role of the worker.')),
    q: Type.Optional(
      plainText(
        200,
        1,
        'Text to find, as in the list of jobs. Then `limit` jobs are found at most, and an answer may be empty and still have a next_cursor.',
      ),
    ),
    metadata: Type.Optional(
      Type.Unsafe<Static<typeof JsonObject>>({
        ...JsonObject,
        minProperties: 1,
        description: 'Must be contained in the metadata of the job.',
      }),
    ),
    context_id: Type.Optional(Uuid),
    worker_id: Type.Optional(Uuid),
    parent_job_id: Type.Optional(Uuid),
    created_after: Type.Optional(Instant),
    created_before: Type.Optional(Instant),
  },
  { $id: 'RetryFilter', description: 'As for the list of jobs. A job must match all given filters.' },
);

export const RetryJobs = strict(
  {
    ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: MOST_RETRIED, uniqueItems: true })),
    filter: Type.Optional(ref(RetryFilter)),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_RETRIED,
        description: 'With filter: how many jobs are looked at. Default: 200.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'With filter: `next_cursor` of the answer before.' }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Changes nothing, and answers what would happen now.', default: false }),
    ),
  },
  { $id: 'RetryJobs', description: 'Either ids, or a filter, whose jobs are taken newest first.' },
);

export const RetriedJob = strict(
  {
    id: described(Uuid, 'Of the job that is to be retried.'),
    context_id: nullable(described(Uuid, 'Null: there is no such job.')),
    retry_job_id: nullable(described(Uuid, 'The new job. Null: the job is not retried, or this is a dry run.')),
    error: nullable(
      described(
        strict({ code: oneOf(RETRY_REFUSALS), message: Type.String() }),
        'Why the job is not retried. Null: it is, or would be.',
      ),
    ),
  },
  { $id: 'RetriedJob' },
);
export type RetriedJob = Static<typeof RetriedJob>;

const Listed = listOf('RetriedJobList', RetriedJob);

export const RetriedJobs = strict(
  {
    ...Listed.properties,
    retried: described(Count, 'How many of these jobs are retried, or would be.'),
    refused: described(Count, 'How many of them are not.'),
  },
  {
    $id: 'RetriedJobs',
    description:
      'What happened to each job. next_cursor: of the next jobs that match the filter; null: there are none.',
  },
);
export type RetriedJobs = Static<typeof RetriedJobs>;
