/** The resolution of a tool call whose outcome is unknown. */
import { Type } from 'typebox';
import { RESOLUTIONS } from '../../../core/run/execution.ts';
import { described } from '../common.ts';
import { oneOf, strict } from '../../../schema/build.ts';
import { PostResult } from '../messages/message.ts';

export const ResolveToolCall = strict(
  {
    outcome: oneOf(
      RESOLUTIONS,
      'happened: `result` becomes the result of the call. did_not_happen: the call runs again. tell: the model gets the message that the outcome is unknown.',
    ),
    result: Type.Optional(
      described(
        PostResult.properties.content,
        'Only with the outcome happened. Without it, the model only gets the message that the call happened.',
      ),
    ),
  },
  { $id: 'ResolveToolCall' },
);
