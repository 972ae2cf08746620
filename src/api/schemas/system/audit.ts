/** The audit log in the API. */
import { Type, type Static } from 'typebox';
import { AUDIT_ACTIONS } from '../../../core/access/audit.ts';
import { nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { Actor } from '../actor.ts';
import { Instant, JsonObject, Page, Uuid, described, listOf } from '../common.ts';

export const AuditEntry = strict(
  {
    id: Uuid,
    at: Instant,
    actor: ref(Actor),
    action: oneOf(AUDIT_ACTIONS),
    target: Type.String({ description: 'The id or the name of what it was done to.' }),
    detail: JsonObject,
    request_id: nullable(
      described(
        Type.String(),
        'The x-request-id of the response; the log of the API has it, too. Null: no request asked for it.',
      ),
    ),
  },
  { $id: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditEntryList = listOf('AuditEntryList', AuditEntry);

export const AuditQuery = strict({
  ...Page,
  actor: Type.Optional(plainText(500, 1, 'The id of a key or token, or a user.')),
  action: Type.Optional(oneOf(AUDIT_ACTIONS)),
  target: Type.Optional(plainText(500, 1, 'The id or the name of what it was done to.')),
  after: Type.Optional(described(Instant, 'Only entries of this time and later.')),
  before: Type.Optional(described(Instant, 'Only entries before this time.')),
});
