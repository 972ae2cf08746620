/**
 * Access for logins that do not own the tables: one of the API processes, one of the worker processes. They read and
 * write rows, and cannot change tables, clear them, or change what the audit log holds. That of the API sees the rows of
 * one tenant at a time (row-security.ts).
 */
import type postgres from 'postgres';
import { DatabaseRefused } from './database-refused.ts';
import { quoted, secureRows } from './row-security.ts';
import { MIGRATIONS_TABLE } from './schema-state.ts';

/** Names of PostgreSQL logins; null: that process type uses the login that migrates. */
export type Logins = { api: string | null; worker: string | null };

type Known = { name: string; isAbove: boolean; isOwner: boolean };

/**
 * Gives both logins what they need, and takes everything else from them. It may be repeated. Throws `DatabaseRefused` if
 * a login does not exist, or has more rights than can be taken from it here.
 */
export async function grantLogins(sql: postgres.Sql, schema: string, { api, worker }: Logins): Promise<void> {
  const names = [api, worker].filter((name) => name !== null);
  for (const name of names) await refuseUnfit(sql, name);
  await sql.begin(async (tx) => {
    for (const name of names) await grantRows(tx, schema, name);
    if (worker !== null) await tx.unsafe(`grant execute on function ${PURGE} to ${quoted(worker)}`);
    await secureRows(tx, schema, { api, worker });
    if (api !== null && worker !== null && api !== worker) await joinLogins(tx, api, worker);
  });
}

/** Deletes entries of a tenant that is being deleted, the only way that entries of the audit log go. */
const PURGE = 'delete_audit_entries(bigint, integer)';

async function refuseUnfit(sql: postgres.Sql, name: string): Promise<void> {
  const [known] = await sql<Known[]>`
    select r.rolname as name, r.rolsuper or r.rolbypassrls as "isAbove", pg_has_role(r.oid, current_user, 'usage') as "isOwner"
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
    throw new DatabaseRefused(
      `The login “${name}” has the rights of the login that migrates, which owns the tables. Use another one.`,
    );
}

async function grantRows(tx: postgres.TransactionSql, schema: string, name: string): Promise<void> {
  const [inSchema, login] = [`in schema ${quoted(schema)}`, quoted(name)];
  for (const statement of [
    `revoke all on schema ${quoted(schema)} from ${login}`,
    `revoke all on all tables ${inSchema} from ${login}`,
    `grant usage on schema ${quoted(schema)} to ${login}`,
    `grant select, insert, update, delete on all tables ${inSchema} to ${login}`,
    `revoke update, delete on audit_entries from ${login}`,
    `revoke insert, update, delete on ${MIGRATIONS_TABLE} from ${login}`,
  ])
    await tx.unsafe(statement);
}

/**
 * A worker process sees the transactions of API processes, for which the deletion of a tenant waits, and ends sessions of
 * frozen ones. The other direction is not needed.
 */
async function joinLogins(tx: postgres.TransactionSql, api: string, worker: string): Promise<void> {
  const [known] = await tx<{ isMember: boolean }[]>`select pg_has_role(${worker}, ${api}, 'usage') as "isMember"`;
  if (known?.isMember !== true) await tx.unsafe(`grant ${quoted(api)} to ${quoted(worker)}`);
}
