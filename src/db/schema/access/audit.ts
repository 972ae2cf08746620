/** The audit log. */
import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { AuditAction } from '../../../core/access/audit.ts';
import type { Actor } from '../../../core/access/actor.ts';
import type { AuditEntryId, TenantId } from '../../../core/ids.ts';
import type { JsonObject } from '../../../core/json.ts';
import { instant, jsonb, userName } from '../columns.ts';

/** An entry is written in the transaction of its act, and never changed. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: uuid('id').primaryKey().$type<AuditEntryId>(),
    /** Null: an act of the operator on the installation. */
    tenantId: bigint('tenant_id', { mode: 'number' }).$type<TenantId>(),
    at: instant('at').notNull().defaultNow(),
    actorKind: text('actor_kind').notNull().$type<Actor['kind']>(),
    /** Of the key or the token; null: no key was needed, it was the admin key, or the session of a user. */
    actorId: text('actor_id'),
    /** The user that a token or a session proves. */
    user: userName(),
    onBehalfOf: text('on_behalf_of'),
    action: text('action').notNull().$type<AuditAction>(),
    target: text('target').notNull(),
    detail: jsonb<JsonObject>('detail').notNull(),
    /** Null: no request asked for it. */
    requestId: text('request_id'),
  },
  (t) => [
    index('audit_entries_of_tenant').on(t.tenantId, t.id),
    index('audit_entries_of_actor').on(t.tenantId, t.actorId, t.id),
    index('audit_entries_of_target').on(t.tenantId, t.target, t.id),
    check('audit_entries_action', sql`length(${t.action}) between 1 and 100`),
    check('audit_entries_target', sql`octet_length(${t.target}) between 1 and 2000`),
  ],
);
