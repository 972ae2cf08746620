/** Jobs in the API. */
import { Type, type Static } from 'typebox';
import { JOB_CODES } from '../../../core/errors.ts';
import { SUBMISSION_CODES } from '../../../core/submissions/submission.ts';
import { JOB_KINDS, JOB_STATUSES } from '../../../core/run/job.ts';
import { WAIT_ENDS } from '../../../db/read/jobs/watched-jobs.ts';
import { JobCompaction } from '../contexts/compaction.ts';
import {
  AnyJson,
  Count,
  Instant,
  JsonObject,
  Page,
  Usage,
  UserName,
  Uuid,
  described,
  listOf,
  someOf,
} from '../common.ts';
import { nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';

export const WaitingFor = strict(
  {
    kind: oneOf(
      ['approval', 'input', 'worker', 'timer'],
      'input: a person or a client answers a call. approval: a person decides whether a call runs, or resolves its unknown outcome. worker: another worker must finish. timer: nothing happens before `until`; for a sleeping call with its name and id. If worker_id is set and kind is not worker, a worker below waits for it.',
    ),
    tool_call_id: Type.Optional(Uuid),
    name: Type.Optional(Type.String({ description: 'Name of the tool.' })),
    worker_id: Type.Optional(Uuid),
    until: Type.Optional(Instant),
  },
  { $id: 'WaitingFor', description: 'An event that the job waits for.' },
);

export const JobOutput = strict(
  {
    message_id: Uuid,
    text: Type.String(),
    data: described(
      AnyJson,
      'The text as JSON, if the job has an output_schema and the answer matches it. Null: there is no schema, or the answer does not match.',
    ),
  },
  { $id: 'JobOutput' },
);

export const JobFailure = strict(
  {
    code: oneOf(
      [...JOB_CODES, ...SUBMISSION_CODES],
      'A job that a service submitted in its own transaction may fail with the code with which the API would refuse it.',
    ),
    message: Type.String(),
  },
  { $id: 'JobFailure' },
);

export const Job = strict(
  {
    id: Uuid,
    kind: oneOf(JOB_KINDS),
    context_id: Uuid,
    context_title: nullable(Type.String()),
    worker_id: Uuid,
    worker_name: Type.String(),
    role: nullable(Type.String()),
    model: described(Type.String(), 'The model that its worker is configured with.'),
    user: nullable(
      described(
        Type.String(),
        'The end user on whose behalf it runs: the one that was named with the input, else the one of the context. Null: none.',
      ),
    ),
    branch: Type.String(),
    input: nullable(
      described(
        strict({ message_id: Uuid, text: described(Type.String(), 'Its first 200 UTF-16 units.') }),
        'The input that it answers. Null: a retry or a compaction.',
      ),
    ),
    status: oneOf(JOB_STATUSES),
    why: Type.Optional(
      described(Type.String(), 'In lists with include=why, of a queued job: why it does not run yet.'),
    ),
    attempt: Count,
    retry_at: nullable(Instant),
    starts_at: nullable(
      described(
        Instant,
        'When the job joins the queue of its context, or joined it. Null: it was posted without a delay.',
      ),
    ),
    steps: Count,
    usage: ref(Usage),
    waiting_for: Type.Array(ref(WaitingFor)),
    output: nullable(ref(JobOutput)),
    error: nullable(ref(JobFailure)),
    parent_job_id: nullable(Uuid),
    created_at: Instant,
    started_at: nullable(Instant),
    finished_at: nullable(Instant),
    metadata: JsonObject,
    compaction: nullable(ref(JobCompaction)),
  },
  { $id: 'Job' },
);
export type Job = Static<typeof Job>;

export const JobList = listOf('JobList', Job);

/** What a list of jobs can be sorted by; with `-` in front in the other direction. */
const SORTS = ['created', '-created', 'cost', '-cost', 'duration', '-duration', 'tokens', '-tokens'] as const;

export const JobQuery = strict({
  ...Page,
  q: Type.Optional(
    plainText(
      200,
      1,
      'Text to find, ignoring case, in the input, the title of the context, the name or role of the worker, the user, or the ids of job, context and worker. A page searches 2,000 jobs that match the other filters and about 16 MB of inputs, so it may be empty and still have a next_cursor.',
    ),
  ),
  sort: Type.Optional(
    oneOf(
      SORTS,
      'created: newest first. cost, duration, tokens: of the newest 2,000 jobs that match the filters, largest first; a job without one counts as the smallest. With `-` in the other direction. Default: created.',
    ),
  ),
  include: Type.Optional(oneOf(['why'], 'why: queued jobs tell why they do not run yet.')),
  status: Type.Optional(someOf(JOB_STATUSES, 'Status of the job.')),
  kind: Type.Optional(oneOf(JOB_KINDS)),
  user: Type.Optional(UserName),
  role: Type.Optional(plainText(256, 1, 'Role of the worker.')),
  metadata: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 2_000,
      description: 'A JSON object that must be contained in the metadata of the job.',
    }),
  ),
  context_id: Type.Optional(Uuid),
  worker_id: Type.Optional(Uuid),
  parent_job_id: Type.Optional(Uuid),
  created_after: Type.Optional(Instant),
  created_before: Type.Optional(Instant),
});

export const LONGEST_WAIT_MS = 60_000;

const WaitMs = Type.Integer({
  minimum: 0,
  maximum: LONGEST_WAIT_MS,
  default: 0,
  description: 'The response waits until the job has finished, at most this many milliseconds.',
});

export const WaitQuery = strict({
  wait_ms: WaitMs,
  until: Type.Unsafe<(typeof WAIT_ENDS)[number]>({
    ...oneOf(
      WAIT_ENDS,
      'What `wait_ms` waits for. end: the job has finished. waiting: it has finished, or waits for a person or a client (`waiting_for` of kind approval or input).',
    ),
    default: 'end',
  }),
});

export const CancelJob = strict(
  { wait_ms: Type.Optional(WaitMs), reason: Type.Optional(nullable(plainText(1_000))) },
  { $id: 'CancelJob' },
);

export const Receipt = strict(
  {
    job_id: Uuid,
    status: oneOf(JOB_STATUSES),
    requested_at: nullable(Instant),
    delivered_at: nullable(Instant),
    stopped_at: nullable(Instant),
  },
  { $id: 'Receipt', description: 'Progress of the stop request.' },
);
export type Receipt = Static<typeof Receipt>;
