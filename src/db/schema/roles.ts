import { sql } from 'drizzle-orm';
import { check, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Role } from '../../core/workers/settings.ts';
import { instant, json, tenantId } from './columns.ts';

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
