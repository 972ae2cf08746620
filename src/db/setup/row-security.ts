/**
 * Row security: the login of the API processes sees and writes rows of the tenant that its transaction names, whatever
 * the statement says. Worker processes serve all tenants at once; their login is not limited, and neither is the owner.
 */
import type postgres from 'postgres';
import { whileLocked } from '../connection/lock-retry.ts';
import { isOfNamedTenant } from '../connection/tenant-setting.ts';

/** Names of PostgreSQL logins, of API and of worker processes. */
export type Logins = { api: string; worker: string };

type Policy = { table: string; name: string; role: string };
type Table = { name: string; column: string; owner: string; isSecured: boolean; isForced: boolean };

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
    const isDone = table.isSecured && table.isForced === isToBeForced(table);
    if (isDone && isSame(made, wanted)) continue;
    // One table at a time: transactions of other processes lock several, in another order.
    await whileLocked(
      TRY_MS,
      async () => undefined,
      () => sql.begin((tx) => secure(tx, table, made, wanted)),
    );
  }
}

async function secure(
  tx: postgres.TransactionSql,
  table: Table,
  made: readonly Policy[],
  wanted: readonly { text: string }[],
): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${LOCK_MS}`);
  const named = quoted(table.name);
  for (const { name } of made) await tx.unsafe(`drop policy ${quoted(name)} on ${named}`);
  for (const { text } of wanted) await tx.unsafe(text);
  const force = isToBeForced(table) ? 'force' : 'no force';
  await tx.unsafe(`alter table ${named} enable row level security, ${force} row level security`);
}

/** Tables that views of the owner search (schema/search-views.ts). */
const SEARCHED: readonly string[] = ['jobs', 'search_entries'];

/**
 * Whether policies hold for the owner, too. Its policy lets it see all rows, but where any policy holds, PostgreSQL plans
 * such searches without statistics.
 */
function isToBeForced({ name }: Table): boolean {
  return !SEARCHED.includes(name);
}

/** Tables with rows of tenants, and the column that has the tenant's id. */
async function tenantTables(sql: postgres.Sql, schema: string): Promise<Table[]> {
  return sql<Table[]>`
    select c.relname as name, a.attname as column, pg_get_userbyid(c.relowner) as owner,
      c.relrowsecurity as "isSecured", c.relforcerowsecurity as "isForced"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace = ${schema}::regnamespace and c.relkind = 'r'
      and a.attname = case c.relname when 'tenants' then 'id' else 'tenant_id' end
    order by c.relname`;
}

const KINDS = ['all_of_owner', 'own_tenant_of_api', 'all_of_workers'] as const;

function policiesOf({ name, column, owner }: Table, { api, worker }: Logins): (Policy & { text: string })[] {
  const policy = (kind: (typeof KINDS)[number], role: string, condition: string): Policy & { text: string } => {
    const named = `${kind}_${VERSION}`;
    const text = `create policy ${named} on ${quoted(name)} to ${quoted(role)} using (${condition})`;
    return { table: name, name: named, role, text };
  };
  return [
    policy('all_of_owner', owner, 'true'),
    policy('own_tenant_of_api', api, isOfNamedTenant(column)),
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
