/** Decisions on calls that wait for approval, and the inbox of all that waits for a person. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { INBOX_KINDS } from '../../db/inbox.ts';
import {
  AnyJson,
  Instant,
  JsonObject,
  Page,
  Uuid,
  listOf,
  nullable,
  oneOf,
  plainText,
  strict,
} from './common.ts';

const approval = {
  decision: oneOf(['approve', 'deny']),
  reason: Type.Optional(nullable(plainText(2_000, 0, 'Of a denial: the model is told.'))),
  remember: Type.Optional(
    Type.Boolean({
      description:
        'From now on this holds of the tool in this context: a rule in its config, and the other calls of it that wait.',
    }),
  ),
};

export const ApproveCalls = strict(
  {
    tool_call_id: Type.Optional(Uuid),
    all: Type.Optional(
      Type.Literal(true, { description: 'All calls of the context that wait for approval.' }),
    ),
    ...approval,
    input: Type.Optional(
      Type.Unsafe<Static<typeof JsonObject> | null>({
        ...nullable(JsonObject),
        description:
          'What the call is run with instead of what the model asked: checked by the schema of its tool.',
      }),
    ),
  },
  { $id: 'ApproveCalls', description: 'Of one call (`tool_call_id`), or of `all`.' },
);

export const Resolved = strict({ resolved: Type.Array(Uuid) }, { $id: 'Resolved' });
export type Resolved = Static<typeof Resolved>;

export const InboxItem = strict(
  {
    kind: oneOf(
      INBOX_KINDS,
      'approval: whether a call is run. input: an answer to a question, or what a client makes of a call. unknown_outcome: what became of a call.',
    ),
    context_id: Uuid,
    worker_id: Uuid,
    job_id: Uuid,
    tool_call_id: Uuid,
    name: Type.String(),
    input: AnyJson,
    requested_at: Instant,
    expires_at: nullable(Instant),
  },
  { $id: 'InboxItem' },
);
export type InboxItem = Static<typeof InboxItem>;

export const Inbox = listOf('Inbox', InboxItem);

export const InboxQuery = strict({ ...Page, kind: Type.Optional(oneOf(INBOX_KINDS)) });
