/** The timeline of a job on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PREFIX_PARTS } from '../../core/fingerprint.ts';
import { JOB_STATUSES } from '../../core/job.ts';
import { CALL_WAITS } from '../../db/call-waits.ts';
import { STEP_KINDS, STEP_STATUSES } from '../../db/step-views.ts';
import { SENT_PARTS } from '../sent-prompt.ts';
import {
  AnyJson,
  Count,
  Instant,
  JsonObject,
  Page,
  Usage,
  Uuid,
  listOf,
  nullable,
  oneOf,
  ref,
  strict,
} from './common.ts';
import { JobFailure } from './job.ts';
import { ToolExecution } from './tool-call.ts';

export const CallWait = strict(
  {
    for: oneOf(
      CALL_WAITS,
      'approval: a decision. answer: what a person says. client: what a client brings. outcome: a person who says what became of it. workers: the end of their jobs. timer: a moment.',
    ),
    asked_at: Instant,
    expires_at: nullable(
      Type.String({ format: 'date-time', description: 'Null: it lasts as long as it takes.' }),
    ),
    ended_at: nullable(Instant),
  },
  { $id: 'CallWait', description: 'One time that a call waited for somebody, or for a moment.' },
);

export const ChildJob = strict(
  {
    job_id: Uuid,
    context_id: Uuid,
    worker_id: Uuid,
    name: Type.String({ description: 'Of the worker.' }),
    status: oneOf(JOB_STATUSES),
    usage: ref(Usage),
    created_at: Instant,
    started_at: nullable(Instant),
    finished_at: nullable(Instant),
  },
  { $id: 'ChildJob', description: 'The job that a call gave to a worker below.' },
);

export const PrefixPart = Type.Unsafe<(typeof PREFIX_PARTS)[number]>({
  $id: 'PrefixPart',
  type: 'string',
  enum: [...PREFIX_PARTS],
  description:
    'Where the prompt ceased to begin as that of the call before it, so that the cache of the provider misses from there on. Null: it begins alike, or nothing is known of the call before.',
});

export const JobStep = strict(
  {
    kind: oneOf(STEP_KINDS),
    name: Type.String({
      description: 'Of a model provider/model; of a wait what for: retry; of a compaction its type.',
    }),
    status: oneOf(
      STEP_STATUSES,
      'running and waiting: under way now. pending and started: nobody runs it now.',
    ),
    attempt: nullable(Count),
    n: nullable(
      Type.Integer({
        minimum: 1,
        description: 'Of a model call: its number among those of the job, for GET …/steps/{n}/prompt.',
      }),
    ),
    prefix_lost_at: nullable(ref(PrefixPart)),
    started_at: Instant,
    first_token_at: nullable(Instant),
    ended_at: nullable(Instant),
    usage: nullable(ref(Usage)),
    error: nullable(ref(JobFailure)),
    message_id: nullable(
      Type.String({ format: 'uuid', description: 'The answer; of a tool call the one that asked for it.' }),
    ),
    tool_call_id: nullable(Uuid),
    executions: nullable(
      Type.Array(ref(ToolExecution), { description: 'Of a tool call: each time it was run.' }),
    ),
    tokens_before: nullable(Type.Integer({ minimum: 0, description: 'Of a compaction: of the prompt.' })),
    tokens_after: nullable(Count),
    approval: nullable(
      strict({
        decision: oneOf(['approve', 'deny']),
        reason: nullable(Type.String()),
        input: AnyJson,
        decided_at: Instant,
      }),
    ),
    waits: nullable(
      Type.Array(ref(CallWait), { description: 'Of a tool call: each time it waited, the first first.' }),
    ),
    child: nullable(ref(ChildJob)),
  },
  { $id: 'JobStep' },
);
export const SentTool = strict(
  { name: Type.String(), description: Type.String(), input_schema: JsonObject },
  { $id: 'SentTool' },
);

export const SentPrompt = strict(
  {
    job_id: Uuid,
    n: Type.Integer({ minimum: 1 }),
    message_id: nullable(Type.String({ format: 'uuid', description: 'The answer. Null: the call failed.' })),
    attempt: Count,
    model: Type.String({ description: 'provider/model' }),
    system: Type.String({ description: 'The system prompt.' }),
    pinned: Type.String({ description: 'The pinned texts, right behind it.' }),
    tools: nullable(
      Type.Array(ref(SentTool), {
        description: 'Null: the list is not kept any more (90 days after it was last sent).',
      }),
    ),
    messages: nullable(
      Type.Array(strict({ role: oneOf(['user', 'assistant']), content: Type.Array(JsonObject) }), {
        description: "As the platform gives them to the provider's format. Null: they take more than 16 MB.",
      }),
    ),
    max_tokens: nullable(Count),
    streaming: Type.Boolean(),
    parameters: JsonObject,
    exact: Type.Boolean({
      description: 'Whether all of it is what was sent, checked by hashes stored with the call.',
    }),
    differs: Type.Array(oneOf(SENT_PARTS), {
      description:
        'What was sent otherwise: settings that were changed since, or what an interrupt took back since.',
    }),
    prefix: nullable(
      strict({
        lost_at: nullable(ref(PrefixPart)),
        message: nullable(
          Type.Integer({
            minimum: 0,
            description:
              'The index of the first message of the request before that is not in this one. Null: none, or it cannot be told any more.',
          }),
        ),
      }),
    ),
  },
  {
    $id: 'SentPrompt',
    description:
      'The request of one model call. `prefix` is null where nothing is known of a request before.',
  },
);
export type SentPrompt = Static<typeof SentPrompt>;

export type JobStep = Static<typeof JobStep>;
export type CallWait = Static<typeof CallWait>;
export type ChildJob = Static<typeof ChildJob>;

export const JobStepList = listOf('JobStepList', JobStep);

export const StepQuery = strict(Page);
