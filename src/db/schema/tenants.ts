import { sql } from 'drizzle-orm';
import { check, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/** Tenants by name. A row is added when an API key with its name is first used, and is never deleted. */
export const tenants = pgTable(
  'tenants',
  {
    /** 1: the default tenant, which the first migration inserts. */
    id: integer('id').primaryKey().generatedByDefaultAsIdentity({ startWith: 2 }),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('tenants_name').on(t.name),
    check('tenants_name_length', sql`length(${t.name}) between 1 and 64`),
  ],
);
