/** Data of worker processes, which belongs to no tenant. */
import { sql } from 'drizzle-orm';
import { bigint, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { Json } from '../../core/json.ts';
import type { TenantId } from '../../core/ids.ts';
import { instant, jsonb } from './columns.ts';

/**
 * Worker processes, one row per start: whether their leases are valid, and what they support. They belong to no tenant.
 */
export const processes = pgTable(
  'processes',
  {
    id: uuid('id').primaryKey(),
    /** The session advisory lock that its heartbeat connection holds. */
    lockKey: bigint('lock_key', { mode: 'number' }).notNull(),
    host: text('host').notNull(),
    pid: integer('pid').notNull(),
    /**
     * `application_name` of its connections, which are terminated when it is declared dead. Null: an earlier release.
     */
    sessionName: text('session_name'),
    version: text('version').notNull(),
    tools: text('tools').array().notNull(),
    roles: text('roles').array().notNull(),
    models: text('models').array().notNull(),
    mcpServers: text('mcp_servers')
      .array()
      .notNull()
      .default(sql`'{}'`),
    startedAt: instant('started_at').notNull().defaultNow(),
    heartbeatAt: instant('heartbeat_at').notNull().defaultNow(),
    /**
     * When a heartbeat of this process was last late; null: never. For a while after it, it declares no other process
     * dead.
     */
    lateAt: instant('late_at'),
    /** Metrics of this process in prom-client's format, for scrapers of an API process. */
    metrics: jsonb<Json>('metrics'),
    /** Another process declared it dead: it claims nothing more, and registers again under a new id. */
    deadAt: instant('dead_at'),
  },
  (t) => [
    uniqueIndex('processes_lock').on(t.lockKey),
    index('processes_live')
      .on(t.heartbeatAt)
      .where(sql`${t.deadAt} is null`),
  ],
);

/**
 * One row per throttled model of a provider key, shared by all worker processes. They belong to no tenant, except those
 * of the simulated model.
 */
export const providerThrottles = pgTable('provider_throttles', {
  /** A hash of the key's id, the model, and the tenant of a simulated model. */
  id: text('id').primaryKey(),
  provider: text('provider').notNull(),
  /** Provider, address and a hash of the key. */
  keyId: text('key_id').notNull(),
  model: text('model').notNull(),
  /** The class of the failure that caused the throttle. */
  reason: text('reason').notNull(),
  since: instant('since').notNull().defaultNow(),
  /** No call of these tenants is sent before this time. */
  until: instant('until').notNull(),
  /** The tenants whose calls were refused. Others may send a probe earlier. */
  tenantIds: bigint('tenant_ids', { mode: 'number' })
    .array()
    .$type<TenantId[]>()
    .notNull()
    .default(sql`'{}'`),
  /** When the operator ended it. */
  liftedAt: instant('lifted_at'),
});
