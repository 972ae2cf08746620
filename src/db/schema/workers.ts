/** Workers, their memories, and the roles from which they are created. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import { instant, json, tenantId, userName } from './columns.ts';
import { contexts } from './contexts.ts';

/** A worker's identity and settings. Each worker owns exactly one context. `version` covers both. */
export const workers = pgTable(
  'workers',
  {
    id: uuid('id').primaryKey(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    name: text('name').notNull(),
    title: text('title'),
    /** The beginning of its first input, for lists. Null: none came since the history began, or it is not indexed yet. */
    firstInput: text('first_input'),
    role: text('role'),
    /** The end user whose worker it is. Never changes. Null: the tenant's own. */
    user: userName(),
    /** The version of its API role when the worker was created. Null: no role, or a role of the config file. */
    roleVersion: integer('role_version'),
    config: json<WorkerConfig>('config').notNull(),
    version: integer('version').notNull().default(1),
    parentWorkerId: uuid('parent_worker_id'),
    /** The context that its context was forked from. */
    parentContextId: uuid('parent_context_id'),
    /** The first context of a chain of forks, whose prompts share a prefix. Null: its own context. */
    rootContextId: uuid('root_context_id'),
    /** When a sweep checks whether its idle timeout has passed; updated lazily. Null: never. */
    expiresAt: instant('expires_at'),
    /** Set when its idle timeout passed: it is left out of lists, and purged after the retention time. */
    archivedAt: instant('archived_at'),
    depth: integer('depth').notNull().default(0),
    /** The root of its worker tree. Null: itself. */
    rootWorkerId: uuid('root_worker_id'),
    /** It continues when its parent is stopped or deleted. */
    detached: boolean('detached').notNull().default(false),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    foreignKey({ columns: [t.contextId], foreignColumns: [contexts.id] }).onDelete('cascade'),
    uniqueIndex('workers_context').on(t.contextId),
    uniqueIndex('workers_tenant').on(t.tenantId, t.id),
    index('workers_parent')
      .on(t.parentWorkerId)
      .where(sql`${t.parentWorkerId} is not null`),
    index('workers_root')
      .on(t.rootWorkerId)
      .where(sql`${t.rootWorkerId} is not null`),
    /** Serves all that is filtered by user. */
    index('workers_user')
      .on(t.tenantId, t.user, t.id)
      .where(sql`${t.user} is not null`),
    /** Serves lists of jobs filtered by role. */
    index('workers_role')
      .on(t.tenantId, t.role)
      .where(sql`${t.role} is not null`),
    index('workers_expiring')
      .on(t.expiresAt)
      .where(sql`${t.expiresAt} is not null`),
    index('workers_archived')
      .on(t.archivedAt)
      .where(sql`${t.archivedAt} is not null`),
  ],
);

/** Memories of a worker. They survive a clear, and are deleted with the worker. */
export const memories = pgTable(
  'memories',
  {
    workerId: uuid('worker_id').notNull(),
    tenantId: tenantId(),
    key: text('key').notNull(),
    value: text('value').notNull(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.workerId, t.key] }),
    foreignKey({ columns: [t.workerId], foreignColumns: [workers.id] }).onDelete('cascade'),
  ],
);

/**
 * Roles created through the API. Every change is a new version; the last version is current, unless it has no
 * definition.
 */
export const roles = pgTable(
  'roles',
  {
    tenantId: tenantId(),
    name: text('name').notNull(),
    version: integer('version').notNull(),
    /** Null: this version deletes the role. */
    definition: json<Role>('definition'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.name, t.version] }), check('roles_version', sql`${t.version} > 0`)],
);
