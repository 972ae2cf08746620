/** Adds to the audit log that webhooks were disabled, in the transaction that did it. */
import { SYSTEM } from '../../core/access/actor.ts';
import type { AuditEntryId, Ids, TenantId, WebhookId } from '../../core/ids.ts';
import type { DisabledReason } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../../db/connection/client.ts';
import { addEntries } from '../../db/write/audit.ts';

type Disabled = { id: WebhookId; tenantId: TenantId };

export async function recordDisabled(
  tx: Executor,
  ids: Ids,
  webhooks: readonly Disabled[],
  reason: DisabledReason,
): Promise<void> {
  for (const { id: target, tenantId } of webhooks) {
    const act = { id: ids.next<AuditEntryId>(), action: 'webhook.disabled', target, detail: { reason } } as const;
    await addEntries(tx, { tenantId, actor: SYSTEM, requestId: null }, [act]);
  }
}
