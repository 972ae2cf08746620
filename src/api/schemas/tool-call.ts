/** A tool call on the wire, each time it was run, and what a person says of one whose outcome is unknown. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { EXECUTION_OUTCOMES, RESOLUTIONS } from '../../core/execution.ts';
import { EFFECTS, ON_UNKNOWN } from '../../core/tool.ts';
import { CALL_STATUSES, WAITS_FOR } from '../../core/tool-call.ts';
import { AnyJson, Instant, Uuid, nullable, oneOf, ref, strict } from './common.ts';
import { PostResult } from './message.ts';

export const ToolExecution = strict(
  {
    number: Type.Integer({ minimum: 1 }),
    epoch: Type.Integer({ minimum: 0, description: 'Of the lease under which it ran.' }),
    idempotency_key: Type.String({ description: 'What the tool was given: the same each time.' }),
    began_at: Instant,
    ended_at: nullable(Instant),
    outcome: nullable(
      oneOf(
        EXECUTION_OUTCOMES,
        'Null: it runs, or nobody looked yet what became of it. cancelled: it was not begun. unknown: nobody saw it end. did_not_happen: nobody saw it end, and somebody who knows said that it had no effect.',
      ),
    ),
  },
  {
    $id: 'ToolExecution',
    description:
      'One time that a call was run. A call without effect, or an idempotent one, that a crash cut off leaves none: it ran again.',
  },
);

export const ToolCallApproval = strict(
  {
    decision: oneOf(['approve', 'deny']),
    reason: nullable(Type.String()),
    input: AnyJson,
    at: Instant,
  },
  {
    $id: 'ToolCallApproval',
    description: '`input`: what it is run with in place of what was asked, or null.',
  },
);

export const ToolCall = strict(
  {
    id: Uuid,
    context_id: Uuid,
    job_id: Uuid,
    message_id: Type.String({ format: 'uuid', description: 'The answer that asks for it.' }),
    name: Type.String(),
    input: Type.Unsafe<Static<typeof AnyJson>>({ description: 'As the model asked.' }),
    run_input: Type.Unsafe<Static<typeof AnyJson>>({
      description: 'What it is run with: the same, unless it was approved with another.',
    }),
    effect: oneOf(EFFECTS),
    on_unknown: oneOf(ON_UNKNOWN),
    status: oneOf(CALL_STATUSES),
    waits_for: nullable(oneOf(WAITS_FOR, 'outcome: a person who says what became of it.')),
    waits_since: nullable(Instant),
    waits_until: nullable(Type.String({ format: 'date-time', description: 'Null: as long as it takes.' })),
    approval: nullable(ref(ToolCallApproval)),
    executions: Type.Array(ref(ToolExecution)),
    result_message_id: nullable(Uuid),
    created_at: Instant,
    finished_at: nullable(Instant),
  },
  { $id: 'ToolCall' },
);
export type ToolCall = Static<typeof ToolCall>;

export const ResolveToolCall = strict(
  {
    outcome: oneOf(
      RESOLUTIONS,
      'happened: `result` becomes the result of the call. did_not_happen: it is run anew. tell: nobody knows, and the model is told so.',
    ),
    result: Type.Optional(
      Type.Unsafe<Static<typeof PostResult>['content']>({
        ...PostResult.properties.content,
        description: 'Only of what happened; without it the model is told that it did, and no more.',
      }),
    ),
  },
  { $id: 'ResolveToolCall' },
);
