/**
 * Row security: the login of the API processes sees and writes rows of the tenant that its transaction names, whatever
 * the statement says. Worker processes serve all tenants at once; their login is not limited, and neither is the owner.
 */
import type postgres from 'postgres';
import { ALL_TENANTS, TENANT_SETTING } from '../connection/tenant-setting.ts';

type Policy = { table: string; name: string; role: string };
type Table = { name: string; column: string; isForced: boolean };
type Roles = { owner: string; api: string; worker: string | null };

/** In the names of policies: another one where they say something else, so that a migration replaces them. */
const VERSION = 1;

/**
 * Makes the policies of all tables that have rows of tenants, or without `api` removes them. It locks no table that has
 * them already.
 */
export async function secureRows(
  tx: postgres.TransactionSql,
  schema: string,
  { api, worker }: { api: string | null; worker: string | null },
): Promise<void> {
  const [session] = await tx<{ owner: string }[]>`select current_user as owner`;
  const existing = await tx<Policy[]>`
    select tablename as table, policyname as name, roles[1] as role from pg_policies where schemaname = ${schema}`;
  for (const table of await tenantTables(tx, schema)) {
    const made = existing.filter((policy) => policy.table === table.name);
    const wanted = api === null ? [] : policiesOf(table, { owner: session?.owner ?? '', api, worker });
    if (isSame(made, wanted) && table.isForced === wanted.length > 0) continue;
    for (const { name } of made) await tx.unsafe(`drop policy ${quoted(name)} on ${quoted(table.name)}`);
    for (const { text } of wanted) await tx.unsafe(text);
    const [enabled, forced] = wanted.length > 0 ? ['enable', 'force'] : ['disable', 'no force'];
    await tx.unsafe(`alter table ${quoted(table.name)} ${enabled} row level security, ${forced} row level security`);
  }
}

/** Tables with rows of tenants, and the column that has the tenant's id. */
async function tenantTables(tx: postgres.TransactionSql, schema: string): Promise<Table[]> {
  return tx<Table[]>`
    select c.relname as name, a.attname as column, c.relrowsecurity and c.relforcerowsecurity as "isForced"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace = ${schema}::regnamespace and c.relkind = 'r'
      and a.attname = case c.relname when 'tenants' then 'id' else 'tenant_id' end
    order by c.relname`;
}

/**
 * The setting is read once for a statement, not once for a row. The condition on the column is one that an index can
 * answer, but the statements' own conditions are what indexes are chosen for.
 */
function policiesOf({ name, column }: Table, roles: Roles): (Policy & { text: string })[] {
  const setting = `nullif(current_setting('${TENANT_SETTING}', true), '')`;
  const ofTenant = `${column} = (select nullif(${setting}, '${ALL_TENANTS}')::bigint)
    or (select ${setting} = '${ALL_TENANTS}')`;
  const policy = (kind: string, role: string, condition: string): Policy & { text: string } => {
    const named = `${kind}_${VERSION}`;
    const text = `create policy ${named} on ${quoted(name)} to ${quoted(role)} using (${condition})`;
    return { table: name, name: named, role, text };
  };
  return [
    policy('all_of_owner', roles.owner, 'true'),
    policy('own_tenant_of_api', roles.api, ofTenant),
    ...(roles.worker === null ? [] : [policy('all_of_workers', roles.worker, 'true')]),
  ];
}

function isSame(made: readonly Policy[], wanted: readonly Policy[]): boolean {
  const told = (policies: readonly Policy[]): string[] => policies.map(({ name, role }) => `${name} ${role}`).sort();
  return JSON.stringify(told(made)) === JSON.stringify(told(wanted));
}

/** An identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
