/** Entries of the audit log. */
import { sql, type SQL } from 'drizzle-orm';
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

/** `tx`: the transaction of the acts. False: the tenant is being deleted, and nothing is written. */
export async function addEntries(
  tx: Executor,
  { tenantId, actor, requestId }: AuditedRequest,
  acts: readonly (AuditAct & { id: AuditEntryId })[],
): Promise<boolean> {
  const rows = await tx.execute(sql`/* audit_entries.add */
    insert into audit_entries
      (id, tenant_id, at, actor_kind, actor_id, user_name, on_behalf_of, action, target, detail, request_id)
    select a.id, ${tenantId}::bigint, ${nowInStatement}, ${actor.kind}, ${actor.id}::text, ${actor.user}::text,
      ${actor.onBehalfOf}::text, a.action, a.target, a.detail, ${requestId}::text
    from ${ACTS.table(acts)}
    where ${tenantId}::bigint is null
      or exists (select 1 from tenants t where t.id = ${tenantId}::bigint and t.status <> 'deleting')
    returning 1`);
  return rows.length > 0;
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
  filter: AuditFilter,
  { after, limit }: { after: AuditEntryId | null; limit: number },
): Promise<AuditEntry[]> {
  const rows = await executor.execute<EntryRow>(sql`/* audit_entries.list */
    select a.id, ${millis(sql`a.at`)} as at, a.actor_kind as kind, a.actor_id as "actorId", a.user_name as "user",
      a.on_behalf_of as "onBehalfOf", a.action, a.target, a.detail, a.request_id as "requestId"
    from audit_entries a where ${conditions(filter)} and (${after}::uuid is null or a.id < ${after}::uuid)
    order by a.id desc limit ${limit}`);
  return rows.map(({ kind, actorId, user, onBehalfOf, ...entry }) => ({
    ...entry,
    actor: { kind, id: actorId, user, onBehalfOf },
  }));
}

/** Only those that are given, so that each filter finds its index. */
function conditions({ tenantId, installation, actor, action, target, from, before }: AuditFilter): SQL {
  const ofTenant = sql`a.tenant_id = ${tenantId}`;
  const ofInstallation = sql`a.tenant_id is null`;
  const owner = tenantId === null ? ofInstallation : installation ? sql`(${ofTenant} or ${ofInstallation})` : ofTenant;
  const given = [
    actor === null ? null : sql`(a.actor_id = ${actor} or a.user_name = ${actor})`,
    action === null ? null : sql`a.action = ${action}`,
    target === null ? null : sql`a.target = ${target}`,
    from === null ? null : sql`a.at >= ${toTimestamp(from)}::timestamptz`,
    before === null ? null : sql`a.at < ${toTimestamp(before)}::timestamptz`,
  ];
  return sql.join([owner, ...given.filter((one) => one !== null)], sql` and `);
}
