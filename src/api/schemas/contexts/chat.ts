/** Chat sessions in the API. */
import { Type, type Static } from 'typebox';
import { UserName, Uuid } from '../common.ts';
import { strict } from '../../../schema/build.ts';
import { Content } from '../messages/message.ts';

export const Chat = strict(
  {
    message: Content,
    user: Type.Optional(UserName),
    session_id: Type.Optional(
      Type.String({
        description: 'From the first response: the context id of the session. Without it a new session starts.',
      }),
    ),
  },
  { $id: 'Chat' },
);

export const ChatAccepted = strict(
  { session_id: Uuid, job_id: Uuid, stream_url: Type.String({ format: 'uri-reference' }) },
  { $id: 'ChatAccepted' },
);
export type ChatAccepted = Static<typeof ChatAccepted>;
