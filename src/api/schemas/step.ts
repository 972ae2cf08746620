/** The timeline of a job on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { STEP_KINDS, STEP_STATUSES } from '../../db/step-views.ts';
import { Count, Instant, Page, Usage, Uuid, listOf, nullable, oneOf, ref, strict } from './common.ts';
import { JobFailure } from './job.ts';

export const JobStep = strict(
  {
    kind: oneOf(STEP_KINDS),
    name: Type.String({ description: 'Of a model provider/model; of a wait what for: retry.' }),
    status: oneOf(
      STEP_STATUSES,
      'running and waiting: under way now. pending and started: nobody runs it now.',
    ),
    attempt: nullable(Count),
    started_at: Instant,
    first_token_at: nullable(Instant),
    ended_at: nullable(Instant),
    usage: nullable(ref(Usage)),
    error: nullable(ref(JobFailure)),
    message_id: nullable(
      Type.String({ format: 'uuid', description: 'The answer; of a tool call the one that asked for it.' }),
    ),
    tool_call_id: nullable(Uuid),
  },
  { $id: 'JobStep' },
);
export type JobStep = Static<typeof JobStep>;

export const JobStepList = listOf('JobStepList', JobStep);

export const StepQuery = strict(Page);
