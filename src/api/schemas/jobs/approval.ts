/** Approval decisions, and the inbox of calls that wait for a person or a client. */
import { Type, type Static } from 'typebox';
import { INBOX_KINDS } from '../../../db/read/jobs/inbox.ts';
import { AnyJson, Instant, JsonObject, Page, UserName, Uuid, described, listOf } from '../common.ts';
import { LONGEST_GRANT_S, USUAL_GRANT_S } from '../../../core/run/grant.ts';
import { integer, nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { Actor } from '../actor.ts';

export const ApproveCalls = strict(
  {
    tool_call_id: Type.Optional(Uuid),
    all: Type.Optional(Type.Literal(true, { description: 'All calls of the context that wait for approval.' })),
    decision: oneOf(['approve', 'deny']),
    reason: Type.Optional(nullable(plainText(2_000, 0, 'Reason of a denial, shown to the model.'))),
    remember: Type.Optional(
      Type.Boolean({
        description:
          'Applies the decision to later calls of the tool in this context, and to other waiting ones. An approval is stored as a grant, a denial as a rule of the config.',
      }),
    ),
    remember_for_s: Type.Optional(
      integer(1, LONGEST_GRANT_S, `With remember: how long the grant lasts, in seconds; ${USUAL_GRANT_S} by default.`),
    ),
    user: Type.Optional(described(UserName, 'With a key: the person on whose behalf it decides.')),
    input: Type.Optional(
      described(nullable(JsonObject), 'Replaces the input that the model sent. It must match the schema of the tool.'),
    ),
  },
  { $id: 'ApproveCalls', description: 'A decision on one call (`tool_call_id`) or on `all` waiting calls.' },
);

export const Resolved = strict({ resolved: Type.Array(Uuid) }, { $id: 'Resolved' });
export type Resolved = Static<typeof Resolved>;

export const InboxItem = strict(
  {
    kind: oneOf(
      INBOX_KINDS,
      'approval: a person decides whether a call runs. input: a person answers a question, or a client posts the result of its tool. unknown_outcome: a person resolves what a call did.',
    ),
    context_id: Uuid,
    worker_id: Uuid,
    worker_name: Type.String(),
    job_id: Uuid,
    input_message_id: nullable(described(Uuid, 'The input that the job answers. Null: none of its own.')),
    input_text: nullable(
      described(
        Type.String(),
        'The beginning of the text of that input: 200 characters. Null: it has no input of its own.',
      ),
    ),
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

export const InboxQuery = strict({
  ...Page,
  kind: Type.Optional(oneOf(INBOX_KINDS)),
  user: Type.Optional(UserName),
});

export const Grant = strict(
  { tool: Type.String(), actor: ref(Actor), created_at: Instant, expires_at: Instant },
  { $id: 'Grant', description: 'Calls of the tool that run without approval in this context.' },
);

export const GrantList = strict({ data: Type.Array(ref(Grant)) }, { $id: 'GrantList' });
