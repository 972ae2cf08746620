/** Turns in the API: an input, its answers, and their tool calls. */
import { Type, type Static } from 'typebox';
import { JOB_STATUSES } from '../../../core/run/job.ts';
import { CALL_STATUSES } from '../../../core/tools/tool-call.ts';
import { Order, Page, Positive, Uuid, described, listOf } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { BranchName } from './message.ts';

export const TurnCall = strict(
  {
    id: Uuid,
    name: Type.String(),
    status: oneOf(CALL_STATUSES),
    message_id: described(Uuid, 'The message with the call.'),
    result_message_id: nullable(
      described(Uuid, 'The message with the result: it has the id of the call, except in an imported context.'),
    ),
  },
  { $id: 'TurnCall' },
);

export const Turn = strict(
  {
    number: described(Positive, 'The number in `u1` and `a1` is 1.'),
    input_message_ids: Type.Array(Uuid),
    answer_message_ids: Type.Array(Uuid, {
      description: 'Messages that answer the input, in order: answers of the model, tool results, notes.',
    }),
    tool_calls: Type.Array(ref(TurnCall)),
    job: nullable(strict({ id: Uuid, status: oneOf(JOB_STATUSES) }, { description: 'The last job of the turn.' })),
  },
  { $id: 'Turn' },
);
export type Turn = Static<typeof Turn>;

export const TurnList = listOf('TurnList', Turn);

export const TurnQuery = strict({
  ...Page,
  branch: Type.Optional(BranchName),
  order: Order,
});
