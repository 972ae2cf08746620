/** Tool calls in the API, and their executions. */
import { Type, type Static } from 'typebox';
import { EXECUTION_OUTCOMES } from '../../../core/run/execution.ts';
import { EFFECTS, ON_UNKNOWN } from '../../../core/tools/tool.ts';
import { CALL_STATUSES, WAITS_FOR } from '../../../core/tools/tool-call.ts';
import { Actor } from '../actor.ts';
import { AnyJson, Count, Instant, Positive, Uuid, described } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';

export const ToolExecution = strict(
  {
    number: Positive,
    epoch: described(Count, 'Epoch of the lease of the run.'),
    idempotency_key: Type.String({
      description: 'The key that the tool got; the same for all executions of the call.',
    }),
    began_at: Instant,
    ended_at: nullable(Instant),
    outcome: nullable(
      oneOf(
        EXECUTION_OUTCOMES,
        'Null: running, or not checked yet after a crash. cancelled: not started. unknown: the end was not recorded. did_not_happen: the end was not recorded, and a person confirmed that the call had no effect.',
      ),
    ),
  },
  {
    $id: 'ToolExecution',
    description:
      'One execution of a call. A call without effect, or an idempotent one, that a crash interrupted has no record of that execution: it ran again.',
  },
);

export const ToolCallApproval = strict(
  {
    decision: oneOf(['approve', 'deny']),
    reason: nullable(Type.String()),
    input: AnyJson,
    at: Instant,
    actor: nullable(described(ref(Actor), 'Null: the timeout.')),
  },
  {
    $id: 'ToolCallApproval',
    description: '`input` replaces the input of the model. Null: unchanged.',
  },
);

export const ToolProgress = strict(
  {
    message: nullable(Type.String()),
    done: nullable(Type.Number({ description: 'In any unit, such as files or percent.' })),
    total: nullable(Type.Number()),
    at: Instant,
  },
  { $id: 'ToolProgress', description: 'The last progress that a tool reported.' },
);

export const ToolLog = strict(
  { entries: Count, dropped: described(Count, 'Entries beyond the limits of a call, which are not stored.') },
  { $id: 'ToolLog', description: 'How many entries the tool wrote to the log of the call.' },
);

export const ToolStep = strict(
  { name: Type.String(), ended_at: Instant, bytes: described(Count, 'Of its stored result, as JSON.') },
  {
    $id: 'ToolStep',
    description:
      'A durable step of a call (`context.step` of the tool): it does not run again. No client reads its result.',
  },
);

const identity = {
  id: Uuid,
  context_id: Uuid,
  job_id: Uuid,
  message_id: described(Uuid, 'The assistant message with the call.'),
  name: Type.String(),
};

const rest = {
  effect: oneOf(EFFECTS),
  on_unknown: oneOf(ON_UNKNOWN),
  status: oneOf(CALL_STATUSES),
  waits_for: nullable(oneOf(WAITS_FOR, 'outcome: a person resolves the unknown outcome.')),
  waits_since: nullable(Instant),
  waits_until: nullable(described(Instant, 'Null: no timeout.')),
  approval: nullable(ref(ToolCallApproval)),
  executions: Type.Array(ref(ToolExecution)),
  progress: nullable(ref(ToolProgress)),
  log: ref(ToolLog),
  tool_steps: Type.Array(ref(ToolStep), { description: 'Oldest first; the last 100.' }),
  result_message_id: nullable(
    described(Uuid, 'The message with the result: it has the id of the call. Null: not in the history yet.'),
  ),
  created_at: Instant,
  finished_at: nullable(Instant),
};

export const ToolCall = strict(
  {
    ...identity,
    input: described(AnyJson, 'The input that the model sent.'),
    run_input: described(AnyJson, 'The input that the tool gets: `input`, or the replacement given with the approval.'),
    ...rest,
  },
  { $id: 'ToolCall' },
);
export type ToolCall = Static<typeof ToolCall>;

export const MessageToolCall = strict(
  { ...identity, ...rest },
  {
    $id: 'MessageToolCall',
    description:
      'A tool call without its input, which is in the `tool_use` block with its id. An input that was replaced with the approval is in `approval`.',
  },
);
export type MessageToolCall = Static<typeof MessageToolCall>;
