/** The timeline of a job in the API. */
import { Type, type Static } from 'typebox';
import { PREFIX_PARTS } from '../../../core/model/fingerprint.ts';
import { JOB_STATUSES } from '../../../core/run/job.ts';
import { THROTTLE_REASONS } from '../../../core/run/throttle.ts';
import { CALL_WAITS } from '../../../db/calls/call-waits.ts';
import { STEP_KINDS, STEP_STATUSES } from '../../../db/read/jobs/step-views.ts';
import { SENT_PARTS } from '../../response/sent-prompt.ts';
import { AnyJson, Count, Instant, JsonObject, Positive, Usage, Uuid, described, listOf } from '../common.ts';
import { Actor } from '../actor.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { JobFailure } from './job.ts';
import { ToolExecution, ToolLog, ToolProgress, ToolStep } from './tool-call.ts';

export const CallWait = strict(
  {
    for: oneOf(
      CALL_WAITS,
      'approval: a decision of a person. answer: the answer of a person. client: the result of a client tool. outcome: a person resolves the unknown outcome. workers: the jobs of other workers. timer: a point in time.',
    ),
    asked_at: Instant,
    expires_at: nullable(described(Instant, 'Null: no timeout.')),
    ended_at: nullable(Instant),
  },
  { $id: 'CallWait', description: 'One wait of a call.' },
);

export const ChildJob = strict(
  {
    job_id: Uuid,
    context_id: Uuid,
    worker_id: Uuid,
    name: Type.String({ description: 'Name of the worker.' }),
    status: oneOf(JOB_STATUSES),
    usage: ref(Usage),
    created_at: Instant,
    started_at: nullable(Instant),
    finished_at: nullable(Instant),
  },
  { $id: 'ChildJob', description: 'The job that a call gave to a child worker.' },
);

export const PrefixPart = Type.Unsafe<(typeof PREFIX_PARTS)[number]>({
  $id: 'PrefixPart',
  type: 'string',
  enum: [...PREFIX_PARTS],
  description:
    'The first part of the prompt that differs from the call before: the prompt cache of the provider misses from there on. Null: no difference, or the call before is unknown.',
});

export const JobStep = strict(
  {
    kind: oneOf(STEP_KINDS),
    name: Type.String({
      description:
        'model: provider/model. tool: name of the tool. wait: retry or throttle. compact: type of the compaction.',
    }),
    status: oneOf(
      STEP_STATUSES,
      'running and waiting: in progress. pending and started: no process runs it now. cancelled: it was stopped with its job.',
    ),
    attempt: nullable(Count),
    n: nullable(described(Positive, 'For a model call: its number within the job, for GET …/steps/{n}/prompt.')),
    prefix_lost_at: nullable(ref(PrefixPart)),
    started_at: Instant,
    first_token_at: nullable(Instant),
    ended_at: nullable(Instant),
    usage: nullable(ref(Usage)),
    error: nullable(ref(JobFailure)),
    reason: nullable(
      oneOf(
        THROTTLE_REASONS,
        'For a wait with the name throttle: why the provider refused calls to the model, so that this one waited.',
      ),
    ),
    message_id: nullable(described(Uuid, 'For a model call: the answer. For a tool call: the message with the call.')),
    tool_call_id: nullable(Uuid),
    progress: nullable(described(ref(ToolProgress), 'For a tool call: null if its tool reported none.')),
    log: nullable(described(ref(ToolLog), 'For a tool call; the entries are in GET /api/jobs/{id}/logs.')),
    tool_steps: nullable(
      Type.Array(ref(ToolStep), { description: 'For a tool call: its durable steps, oldest first; the last 100.' }),
    ),
    executions: nullable(Type.Array(ref(ToolExecution), { description: 'For a tool call: its executions.' })),
    tokens_before: nullable(described(Count, 'For a compaction: tokens of the prompt before.')),
    tokens_after: nullable(Count),
    approval: nullable(
      strict({
        decision: oneOf(['approve', 'deny']),
        reason: nullable(Type.String()),
        input: AnyJson,
        decided_at: Instant,
        actor: nullable(described(ref(Actor), 'Null: the timeout.')),
      }),
    ),
    waits: nullable(Type.Array(ref(CallWait), { description: 'For a tool call: its waits, oldest first.' })),
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
    n: Positive,
    message_id: nullable(described(Uuid, 'The answer message. Null: the call failed.')),
    attempt: Count,
    model: Type.String({ description: 'provider/model' }),
    system: Type.String({ description: 'The system prompt.' }),
    pinned: Type.String({ description: 'The pinned texts, which follow the system prompt.' }),
    tools: nullable(
      Type.Array(ref(SentTool), {
        description: 'Null: the list is no longer stored (90 days after it was last sent).',
      }),
    ),
    messages: nullable(
      Type.Array(strict({ role: oneOf(['user', 'assistant']), content: Type.Array(JsonObject) }), {
        description: 'Messages before conversion to the format of the provider. Null: larger than 16 MB.',
      }),
    ),
    max_tokens: nullable(Count),
    streaming: Type.Boolean(),
    output_schema: nullable(described(JsonObject, 'The schema that the answer must match. Null: any text.')),
    parameters: JsonObject,
    exact: Type.Boolean({
      description: 'Whether all parts equal what was sent. Checked by hashes stored with the call.',
    }),
    differs: Type.Array(oneOf(SENT_PARTS), {
      description:
        'Parts that differ from what was sent: settings changed since, or an interrupt retracted messages since.',
    }),
    prefix: nullable(
      strict({
        lost_at: nullable(ref(PrefixPart)),
        message: nullable(
          described(
            Count,
            'Index of the first message that differs from the request before. Null: none, or no longer known.',
          ),
        ),
      }),
    ),
  },
  {
    $id: 'SentPrompt',
    description: 'The request of one model call. `prefix` is null if the request before is unknown.',
  },
);
export type SentPrompt = Static<typeof SentPrompt>;

export type JobStep = Static<typeof JobStep>;
export type CallWait = Static<typeof CallWait>;
export type ChildJob = Static<typeof ChildJob>;

export const JobStepList = listOf('JobStepList', JobStep);
