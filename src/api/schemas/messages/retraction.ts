/** Why a message is not part of the history, in the API. */
import { RETRACTION_CAUSES } from '../../../core/conversation/retraction.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { Actor } from '../actor.ts';
import { Instant, described } from '../common.ts';

export const Retraction = strict(
  {
    cause: oneOf(
      RETRACTION_CAUSES,
      'cancel, stop, interrupt: a request to stop the job or its worker. deadline: the job passed its deadline. refused: the provider refused to answer. failed: the model call failed.',
    ),
    at: described(Instant, 'When the stop was requested, else when the job ended.'),
    by: nullable(described(ref(Actor), 'Who requested the stop. Null: not known, or there was no request.')),
  },
  {
    $id: 'Retraction',
    description: 'Why a message is not part of the history. Null: it is, or the reason is not known.',
  },
);
