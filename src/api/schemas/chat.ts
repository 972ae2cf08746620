/** Chat sessions on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Uuid, strict } from './common.ts';
import { Content } from './message.ts';

export const Chat = strict(
  {
    message: Content,
    session_id: Type.Optional(
      Type.String({
        description: "From the first answer: the session's context. Without it a session begins.",
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
