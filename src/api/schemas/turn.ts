/** Turns on the wire: an input, all that answers it, and the calls that were made for that. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { JOB_STATUSES } from '../../core/job.ts';
import { CALL_STATUSES } from '../../core/tool-call.ts';
import { Page, Uuid, listOf, nullable, oneOf, ref, strict } from './common.ts';
import { BranchName } from './message.ts';

export const TurnCall = strict(
  {
    id: Uuid,
    name: Type.String(),
    status: oneOf(CALL_STATUSES),
    message_id: Type.String({ format: 'uuid', description: 'The message that asks for it.' }),
    result_message_id: nullable(Uuid),
  },
  { $id: 'TurnCall' },
);

export const Turn = strict(
  {
    number: Type.Integer({ minimum: 1, description: 'Of `u1` and `a1`: 1.' }),
    input_message_ids: Type.Array(Uuid),
    answer_message_ids: Type.Array(Uuid, {
      description: 'All that answers the input, in order: what the model said, results of tools, notes.',
    }),
    tool_calls: Type.Array(ref(TurnCall)),
    job: nullable(
      strict(
        { id: Uuid, status: oneOf(JOB_STATUSES) },
        { description: 'The last one that had to do with it.' },
      ),
    ),
  },
  { $id: 'Turn' },
);
export type Turn = Static<typeof Turn>;

export const TurnList = listOf('TurnList', Turn);

export const TurnQuery = strict({
  ...Page,
  branch: Type.Optional(BranchName),
  order: Type.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'], default: 'asc' }),
});
