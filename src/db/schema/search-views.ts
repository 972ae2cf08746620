/**
 * For searches of a login that row security limits. PostgreSQL answers conditions like `@@` and `@>` by an index only
 * where no policy has to be checked first. These views are read with the rights of their owner, so they check the tenant
 * themselves. A statement reads here which rows match, and the rows themselves from their tables, under row security.
 */
import { sql } from 'drizzle-orm';
import { pgView } from 'drizzle-orm/pg-core';
import { isOfNamedTenant } from '../connection/tenant-setting.ts';

export const tenantSearchEntries = pgView('tenant_search_entries', {})
  .as(sql`select e.context_id, e.seq, e.tenant_id, e.message_id, e.role, e.created_at, e.document
  from search_entries e where ${sql.raw(isOfNamedTenant('e.tenant_id'))}`);

export const tenantJobMetadata = pgView('tenant_job_metadata', {}).as(
  sql`select j.id, j.tenant_id, j.metadata from jobs j where ${sql.raw(isOfNamedTenant('j.tenant_id'))}`,
);
