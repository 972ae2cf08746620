/** Jobs on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { JOB_CODES } from '../../core/errors.ts';
import { JOB_KINDS, JOB_STATUSES } from '../../core/job.ts';
import {
  Count,
  Instant,
  JsonObject,
  Page,
  Usage,
  Uuid,
  listOf,
  nullable,
  oneOf,
  plainText,
  ref,
  strict,
} from './common.ts';

export const WaitingFor = strict(
  { kind: Type.Literal('timer'), until: Instant },
  { $id: 'WaitingFor', description: 'What must come before it goes on.' },
);

export const JobOutput = strict({ message_id: Uuid, text: Type.String() }, { $id: 'JobOutput' });

export const JobFailure = strict({ code: oneOf(JOB_CODES), message: Type.String() }, { $id: 'JobFailure' });

export const Job = strict(
  {
    id: Uuid,
    kind: oneOf(JOB_KINDS),
    context_id: Uuid,
    worker_id: Uuid,
    branch: Type.String(),
    status: oneOf(JOB_STATUSES),
    attempt: Count,
    retry_at: nullable(Instant),
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
  },
  { $id: 'Job' },
);
export type Job = Static<typeof Job>;

export const JobList = listOf('JobList', Job);

export const JobQuery = strict({
  ...Page,
  status: Type.Optional(oneOf(JOB_STATUSES)),
  context_id: Type.Optional(Uuid),
  worker_id: Type.Optional(Uuid),
  parent_job_id: Type.Optional(Uuid),
  created_after: Type.Optional(Instant),
});

/** At most this long, in milliseconds. */
export const LONGEST_WAIT_MS = 60_000;

export const WaitMs = Type.Integer({
  minimum: 0,
  maximum: LONGEST_WAIT_MS,
  default: 0,
  description: 'Answers when the job ends, and after so many milliseconds at the latest.',
});

export const WaitQuery = strict({ wait_ms: WaitMs });

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
  { $id: 'Receipt', description: 'What became of the wish so far.' },
);
export type Receipt = Static<typeof Receipt>;
