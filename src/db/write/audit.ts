/** Entries of the audit log. */
import { sql } from 'drizzle-orm';
import type { Actor } from '../../core/access/actor.ts';
import type { AuditAct, AuditAction, AuditEntry, AuditedRequest } from '../../core/access/audit.ts';
import type { AuditEntryId, TenantId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { millis, nowInStatement, toTimestamp } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';

const ACTS = recordset<AuditAct & { id: AuditEntryId }>(
  'a',
  columns({
    id: ['uuid', ({ id }) => id],
    action: ['text', ({ action }) => action],
    target: ['text', ({ target }) => target],
    detail: ['jsonb', ({ detail }) => detail],
  }),
);

/** `tx`: the transaction of the acts. */
export async function addEntries(
  tx: Executor,
  { tenantId, actor, requestId }: AuditedRequest,
  acts: readonly (AuditAct & { id: AuditEntryId })[],
): Promise<void> {
  await tx.execute(sql`/* audit_entries.add */
    insert into audit_entries
      (id, tenant_id, at, actor_kind, actor_id, user_name, on_behalf_of, action, target, detail, request_id)
    select a.id, ${tenantId}::bigint, ${nowInStatement}, ${actor.kind}, ${actor.id}::text, ${actor.user}::text,
      ${actor.onBehalfOf}::text, a.action, a.target, a.detail, ${requestId}::text
    from ${ACTS.table(acts)}`);
}

/** Null: not filtered. `actor`: an id, or a user. `installation`: also the acts of the operator on the installation. */
export type AuditFilter = {
  tenantId: TenantId | null;
  installation: boolean;
  actor: string | null;
  action: AuditAction | null;
  target: string | null;
  from: Millis | null;
  before: Millis | null;
};

type EntryRow = Omit<AuditEntry, 'actor'> & {
  kind: Actor['kind'];
  actorId: string | null;
  user: Actor['user'];
  onBehalfOf: Actor['onBehalfOf'];
};

/** Newest first. `after`: an id. */
export async function listEntries(
  executor: Executor,
  { tenantId, installation, actor, action, target, from, before }: AuditFilter,
  { after, limit }: { after: AuditEntryId | null; limit: number },
): Promise<AuditEntry[]> {
  const rows = await executor.execute<EntryRow>(sql`/* audit_entries.list */
    select a.id, ${millis(sql`a.at`)} as at, a.actor_kind as kind, a.actor_id as "actorId", a.user_name as "user",
      a.on_behalf_of as "onBehalfOf", a.action, a.target, a.detail, a.request_id as "requestId"
    from audit_entries a
    where (a.tenant_id = ${tenantId} or ${installation} and a.tenant_id is null)
      and (${after}::uuid is null or a.id < ${after}::uuid)
      and (${actor}::text is null or a.actor_id = ${actor}::text or a.user_name = ${actor}::text)
      and (${action}::text is null or a.action = ${action}::text)
      and (${target}::text is null or a.target = ${target}::text)
      and (${toTimestamp(from)}::timestamptz is null or a.at >= ${toTimestamp(from)}::timestamptz)
      and (${toTimestamp(before)}::timestamptz is null or a.at < ${toTimestamp(before)}::timestamptz)
    order by a.id desc limit ${limit}`);
  return rows.map(({ kind, actorId, user, onBehalfOf, ...entry }) => ({
    ...entry,
    actor: { kind, id: actorId, user, onBehalfOf },
  }));
}
