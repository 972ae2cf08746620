/** Data of worker processes, which belongs to no tenant. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Json } from '../../core/json.ts';
import { END_REASONS, PROCESS_STATUSES, type EndReason, type ProcessStatus } from '../../core/process-status.ts';
import { instant, jsonb, oneOf, tenantId } from './columns.ts';

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
    /** Whether it can be drained by a request: it serves nothing beside its runs, so that it may end. */
    canDrain: boolean('can_drain').notNull().default(false),
    /** What the operator wants of it, and what it did at its last heartbeat. */
    requestedStatus: text('requested_status').$type<ProcessStatus>().notNull().default('running'),
    status: text('status').$type<ProcessStatus>().notNull().default('running'),
    /** It ended, or another process declared it dead: it claims nothing more, and registers again under a new id. */
    deadAt: instant('dead_at'),
    endReason: text('end_reason').$type<EndReason>(),
  },
  (t) => [
    check('processes_requested_status', oneOf('requested_status', PROCESS_STATUSES)),
    check('processes_status', oneOf('status', PROCESS_STATUSES)),
    check('processes_drain', sql`${t.canDrain} or ${t.requestedStatus} <> 'draining'`),
    check('processes_end_reason', oneOf('end_reason', END_REASONS)),
    check('processes_end', sql`${t.endReason} is null or ${t.deadAt} is not null`),
    uniqueIndex('processes_lock').on(t.lockKey),
    index('processes_live')
      .on(t.heartbeatAt)
      .where(sql`${t.deadAt} is null`),
  ],
);

/** One row per throttled model of a provider key and tenant, shared by all worker processes. */
export const providerThrottles = pgTable(
  'provider_throttles',
  {
    /** Of the key and the model (`llm/key-id.ts`): the same for all tenants, except of simulated models. */
    id: text('id').notNull(),
    tenantId: tenantId(),
    provider: text('provider').notNull(),
    /** Provider, address and a hash of the key. */
    keyId: text('key_id').notNull(),
    model: text('model').notNull(),
    /** The class of the failure that caused the throttle. */
    reason: text('reason').notNull(),
    /** The first refusal, after which calls were always throttled, and the last one. */
    since: instant('since').notNull(),
    refusedAt: instant('refused_at').notNull(),
    /** No call begins before this time. */
    until: instant('until').notNull(),
    /** When the operator ended it. */
    liftedAt: instant('lifted_at'),
  },
  (t) => [primaryKey({ columns: [t.id, t.tenantId] }), index('provider_throttles_until').on(t.until)],
);
