/**
 * Row security: the login of the API processes sees and writes rows of the tenant that its transaction names, whatever
 * the statement says. Worker processes serve all tenants at once; their login is not limited, and neither is the owner.
 */
import type postgres from 'postgres';
import { whileLocked } from '../connection/lock-retry.ts';
import { ALL_TENANTS, TENANT_SETTING } from '../connection/tenant-setting.ts';

/** Names of PostgreSQL logins, of API and of worker processes. */
export type Logins = { api: string; worker: string };

type Policy = { table: string; name: string; role: string };
type Table = { name: string; column: string; owner: string; isForced: boolean };

/** In the names of policies: another one where they say something else, so that a migration replaces them. */
const VERSION = 1;
/** A table is locked for a moment, beside running processes. */
const LOCK_MS = 2_000;
const TRY_MS = 60_000;

/** Makes the policies of all tables that have rows of tenants. It locks no table that has them already. */
export async function secureRows(sql: postgres.Sql, schema: string, logins: Logins): Promise<void> {
  const existing = await sql<Policy[]>`
    select tablename as table, policyname as name, roles[1] as role from pg_policies where schemaname = ${schema}`;
  for (const table of await tenantTables(sql, schema)) {
    const made = existing.filter(
      ({ table: of, name }) => of === table.name && KINDS.some((kind) => name.startsWith(kind)),
    );
    const wanted = policiesOf(table, logins);
    if (isSame(made, wanted) && table.isForced) continue;
    // One table at a time: transactions of other processes lock several, in another order.
    await whileLocked(
      TRY_MS,
      async () => undefined,
      () => sql.begin((tx) => secure(tx, table.name, made, wanted)),
    );
  }
}

async function secure(
  tx: postgres.TransactionSql,
  table: string,
  made: readonly Policy[],
  wanted: readonly { text: string }[],
): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${LOCK_MS}`);
  for (const { name } of made) await tx.unsafe(`drop policy ${quoted(name)} on ${quoted(table)}`);
  for (const { text } of wanted) await tx.unsafe(text);
  await tx.unsafe(`alter table ${quoted(table)} enable row level security, force row level security`);
}

/** Tables with rows of tenants, and the column that has the tenant's id. */
async function tenantTables(sql: postgres.Sql, schema: string): Promise<Table[]> {
  return sql<Table[]>`
    select c.relname as name, a.attname as column, pg_get_userbyid(c.relowner) as owner, c.relrowsecurity and c.relforcerowsecurity as "isForced"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace = ${schema}::regnamespace and c.relkind = 'r'
      and a.attname = case c.relname when 'tenants' then 'id' else 'tenant_id' end
    order by c.relname`;
}

const KINDS = ['all_of_owner', 'own_tenant_of_api', 'all_of_workers'] as const;

/**
 * The setting is read once for a statement, not once for a row. The condition on the column is one that an index can
 * answer, but the statements' own conditions are what indexes are chosen for.
 */
function policiesOf({ name, column, owner }: Table, { api, worker }: Logins): (Policy & { text: string })[] {
  const setting = `nullif(current_setting('${TENANT_SETTING}', true), '')`;
  const ofTenant = `${column} = (select nullif(${setting}, '${ALL_TENANTS}')::bigint)
    or (select ${setting} = '${ALL_TENANTS}')`;
  const policy = (kind: (typeof KINDS)[number], role: string, condition: string): Policy & { text: string } => {
    const named = `${kind}_${VERSION}`;
    const text = `create policy ${named} on ${quoted(name)} to ${quoted(role)} using (${condition})`;
    return { table: name, name: named, role, text };
  };
  return [
    policy('all_of_owner', owner, 'true'),
    policy('own_tenant_of_api', api, ofTenant),
    policy('all_of_workers', worker, 'true'),
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
