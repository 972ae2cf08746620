/**
 * Access for logins that do not own the tables: one of the API processes, one of the worker processes. They read and
 * write rows, and cannot change tables, clear them, or change what the audit log holds. That of the API sees the rows of
 * one tenant at a time (row-security.ts).
 */
import type postgres from 'postgres';
import { getViewName } from 'drizzle-orm';
import { tenantJobMetadata, tenantSearchEntries } from '../schema/search-views.ts';
import { GRANTED_FUNCTIONS, mayItself } from '../submissions/grants.ts';
import { DatabaseRefused } from './database-refused.ts';
import { quoted, secureRows, type Logins } from './row-security.ts';
import { MIGRATIONS_TABLE } from './migrations-table.ts';

/** Gives both logins what they need, and takes everything else in the schema from them. It may be repeated. */
export async function grantLogins(sql: postgres.Sql, schema: string, logins: Logins): Promise<void> {
  const { api, worker } = logins;
  await joinLogins(sql, logins);
  // Before there are any rights: if it fails, a login sees no rows rather than all.
  await secureRows(sql, schema, logins);
  await sql.begin(async (tx) => {
    // What the operator granted stays. A login without the function is a new one of a name that was granted it before.
    const granted = await tx<{ role: string }[]>`
      select distinct g.role_name as role from submission_grants g where g.role_name in (${api}, ${worker})
        and ${tx.unsafe(mayItself('g.role_name'))}`;
    await tx`delete from submission_grants g where g.role_name in (${api}, ${worker})
      and not ${tx.unsafe(mayItself('g.role_name'))}`;
    for (const login of [api, worker]) await grantRows(tx, schema, login);
    // The deletion of a tenant locks the rows that it deletes. Nothing that a grant says can be changed by it.
    await tx.unsafe(`grant update (created_at) on submission_grants to ${quoted(worker)}`);
    await tx.unsafe(`grant execute on function ${PURGE} to ${quoted(worker)}`);
    // Of all tenants, and for worker processes only.
    await tx.unsafe(`revoke all on outbox_receipts from ${quoted(api)}`);
    for (const { role } of granted)
      await tx.unsafe(`grant execute on function ${GRANTED_FUNCTIONS} to ${quoted(role)}`);
  });
}

/** Deletes entries of a tenant that is being deleted, the only way that entries of the audit log go. */
const PURGE = 'delete_audit_entries(bigint, integer)';

/** They have the rights of the owner, so nothing may be written through them. */
const SEARCH_VIEWS = [tenantSearchEntries, tenantJobMetadata].map((view) => getViewName(view));

type Known = { isAbove: boolean; isOwner: boolean };

/**
 * Throws `DatabaseRefused` if a login does not exist, or has more rights than can be taken from it here. The schema may
 * not exist yet.
 */
export async function refuseUnfit(sql: postgres.Sql, schema: string, { api, worker }: Logins): Promise<void> {
  if (api === worker) throw new DatabaseRefused('API and worker processes need two different logins.');
  for (const name of [api, worker]) {
    const [known] = await sql<Known[]>`
      select r.rolsuper or r.rolbypassrls as "isAbove", pg_has_role(r.oid, current_user, 'usage') or exists (
          select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = ${schema} and pg_has_role(r.oid, c.relowner, 'usage')
        ) as "isOwner"
      from pg_roles r where r.rolname = ${name} and r.rolcanlogin`;
    if (known === undefined)
      throw new DatabaseRefused(
        `PostgreSQL has no login “${name}”. Create it first: create role ${quoted(name)} login password '…'`,
      );
    if (known.isAbove)
      throw new DatabaseRefused(
        `The login “${name}” is a superuser or bypasses row security. Use one that does neither.`,
      );
    if (known.isOwner)
      throw new DatabaseRefused(`The login “${name}” has the rights of one that owns the tables. Use another one.`);
  }
  const [joined] = await sql<{ isMember: boolean }[]>`select pg_has_role(${api}, ${worker}, 'usage') as "isMember"`;
  if (joined?.isMember === true)
    throw new DatabaseRefused(`The login “${api}” has the rights of “${worker}”, which row security does not limit.`);
}

async function grantRows(tx: postgres.TransactionSql, schema: string, name: string): Promise<void> {
  const [inSchema, login] = [`in schema ${quoted(schema)}`, quoted(name)];
  for (const statement of [
    `revoke all on schema ${quoted(schema)} from ${login}`,
    `revoke all on all tables ${inSchema} from ${login}`,
    `revoke all on all functions ${inSchema} from ${login}`,
    `grant usage on schema ${quoted(schema)} to ${login}`,
    `grant select, insert, update, delete on all tables ${inSchema} to ${login}`,
    `revoke update, delete on audit_entries from ${login}`,
    `revoke insert, update on submission_grants from ${login}`,
    `revoke insert, update, delete on ${[MIGRATIONS_TABLE, ...SEARCH_VIEWS].join(', ')} from ${login}`,
  ])
    await tx.unsafe(statement);
}

/**
 * A worker process sees the transactions of API processes, for which the deletion of a tenant waits, and ends sessions of
 * frozen ones. The other direction is not needed.
 */
async function joinLogins(sql: postgres.Sql, { api, worker }: Logins): Promise<void> {
  const isJoined = async (): Promise<boolean> => {
    const [row] = await sql<{ yes: boolean }[]>`select pg_has_role(${worker}, ${api}, 'usage') as yes`;
    return row?.yes === true;
  };
  if (await isJoined()) return;
  const grant = `grant ${quoted(api)} to ${quoted(worker)}`;
  await sql.unsafe(grant).catch((cause: unknown) => {
    throw new DatabaseRefused(`This login may not grant one login to the other. Run as a superuser: ${grant}`, {
      cause,
    });
  });
  if (!(await isJoined()))
    throw new DatabaseRefused(
      `The login “${worker}” inherits no rights (NOINHERIT). Change it: alter role ${quoted(worker)} inherit`,
    );
}
