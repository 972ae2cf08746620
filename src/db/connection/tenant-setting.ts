/**
 * For which tenant statements run, where PostgreSQL's row security checks it: in API processes with a login of their own.
 * Each transaction starts with the setting of the asynchronous context in which it is made; outside of one, no row of any
 * tenant is seen. So no caller can forget it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TenantId } from '../../core/ids.ts';

/** What the policies (row-security.ts) and the views for searches (schema/search-views.ts) read. */
export const TENANT_SETTING = 'nightshift.tenant';
/** For what concerns all tenants: access control, the looks of streams, the operator's own requests. */
export const ALL_TENANTS = '*';

/**
 * Whether a row is one of the tenant that the transaction names. The setting is read once for a statement, not once for a
 * row. An index can answer it, but the statements' own conditions are what indexes are chosen for.
 */
export function isOfNamedTenant(column: string): string {
  const setting = `nullif(current_setting('${TENANT_SETTING}', true), '')`;
  return `${column} = (select nullif(${setting}, '${ALL_TENANTS}')::bigint)
    or (select ${setting} = '${ALL_TENANTS}')`;
}

const current = new AsyncLocalStorage<TenantId | null>();

/** `tenantId` null: all tenants. */
export function forTenant<T>(tenantId: TenantId | null, work: () => T): T {
  return current.run(tenantId, work);
}

/** The value of the setting for what is asked now. */
export function currentSetting(): string {
  const tenantId = current.getStore();
  if (tenantId === undefined) return '';
  return tenantId === null ? ALL_TENANTS : String(tenantId);
}
