/** Entries of the audit log as the API shows them. */
import { toPublicActor } from '../../../core/access/actor.ts';
import type { AuditEntry as Entry } from '../../../core/access/audit.ts';
import { toIso } from '../../request/instant.ts';
import type { AuditEntry } from '../../schemas/system/audit.ts';

export function toAuditEntry({ id, at, actor, action, target, detail, requestId }: Entry): AuditEntry {
  return { id, at: toIso(at), actor: toPublicActor(actor), action, target, detail, request_id: requestId };
}
