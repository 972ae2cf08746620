/** Installs, reads and removes an outbox in the database of a service, over a connection of the login that owns it. */
import { sql } from 'drizzle-orm';
import { openDatabase, type Database, type Executor } from '../connection/client.ts';
import { errorCode } from '../connection/database-errors.ts';
import { quoted } from '../setup/row-security.ts';
import { readRights } from './outbox-rights.ts';
import { readAbout } from './outbox-rows.ts';
import { IS_NEWER, IS_OCCUPIED, OUTBOX_VERSION, outboxSql, type OutboxPlace } from './outbox-schema.ts';
import { lastRefused, readBacklog, type OutboxBacklog, type RefusedRow } from './outbox-state.ts';

const REFUSED_SHOWN = 10;

/** How long a statement waits for a lock in the database of a service, in milliseconds. Transactions there wait behind it. */
export const OUTBOX_LOCK_MS = 2_000;

/** `occupied`: the schema has other tables of these names. `newer`: a newer version has made the outbox. */
export type Installed = 'installed' | 'unchanged' | 'occupied' | 'newer';

/** Runs `work` with one connection to the outbox. */
export async function withOutbox<T>(url: string, schema: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url, { max: 1, schema, limits: { lock: OUTBOX_LOCK_MS } });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** In one transaction. It may run again, also with other roles. */
export async function installOutbox(database: Database, place: OutboxPlace): Promise<Installed> {
  const wasThere = await isInstalled(database.db);
  try {
    await database.transaction(async (tx) => {
      for (const statement of outboxSql(place)) await tx.execute(sql.raw(statement));
    });
  } catch (error) {
    if (errorCode(error) === IS_OCCUPIED) return 'occupied';
    if (errorCode(error) === IS_NEWER) return 'newer';
    throw error;
  }
  return wasThere ? 'unchanged' : 'installed';
}

/**
 * `not_granted`: the login may not read it. `other_version`: this version cannot read it. `mayRelay`: whether worker processes
 * can use this login.
 */
export type OutboxStatus =
  | { kind: 'none' }
  | { kind: 'not_granted' }
  | { kind: 'other_version'; version: number }
  | { kind: 'installed'; mayRelay: boolean; backlog: OutboxBacklog; refused: readonly RefusedRow[] };

export async function outboxStatus({ db }: Database, schema: string): Promise<OutboxStatus> {
  const rights = await readRights(db, schema);
  if (rights === 'none') return { kind: 'not_granted' };
  const about = rights === 'absent' ? null : await readAbout(db);
  if (about === null) return { kind: 'none' };
  if (about.version !== OUTBOX_VERSION) return { kind: 'other_version', version: about.version };
  const [backlog, refused] = [await readBacklog(db), await lastRefused(db, REFUSED_SHOWN)];
  return { kind: 'installed', mayRelay: rights === 'relay', backlog, refused };
}

/** Refused rows wait again, in their order. Returns how many. */
export async function retryRefused({ db }: Database): Promise<number> {
  const [row] = await db.execute<{ count: number }>(sql`/* outbox.retry */
    with retried as (
      update outbox o set refused_at = null, error = null where o.refused_at is not null returning 1
    )
    select count(*)::int as count from retried`);
  return row?.count ?? 0;
}

/** `kept`: it has rows. The schema goes too, if nothing else is in it. */
export type Removed = { kind: 'removed'; rows: number } | { kind: 'none' } | { kind: 'kept'; rows: number };

/** `force`: even if it has rows. */
export async function removeOutbox(database: Database, schema: string, force: boolean): Promise<Removed> {
  if (!(await isInstalled(database.db))) return { kind: 'none' };
  // Before the lock, for which all statements of the service would wait.
  const waiting = await countRows(database.db);
  if (waiting > 0 && !force) return { kind: 'kept', rows: waiting };
  return database.transaction(async (tx) => {
    // Transactions that have submitted end first; later ones find no outbox.
    await tx.execute(sql`/* outbox.lock_table */ lock table outbox in access exclusive mode`);
    const rows = await countRows(tx);
    if (rows > 0 && !force) return { kind: 'kept', rows };
    await tx.execute(sql`/* outbox.drop_function */ drop function nightshift_submit_v1(text, text, boolean)`);
    await tx.execute(sql`/* outbox.drop_tables */ drop table outbox, outbox_about`);
    const isUsed = await tx.execute(sql`
      select 1 from pg_depend d join pg_namespace n on n.oid = d.refobjid
      where d.refclassid = 'pg_namespace'::regclass and n.nspname = ${schema} limit 1`);
    if (isUsed.length === 0) await tx.execute(sql.raw(`drop schema ${quoted(schema)}`));
    return { kind: 'removed', rows };
  });
}

async function countRows(executor: Executor): Promise<number> {
  const [row] = await executor.execute<{ count: number }>(sql`select count(*)::int as count from outbox`);
  return row?.count ?? 0;
}

/** In the schema of the connection. */
async function isInstalled(executor: Executor): Promise<boolean> {
  const [row] = await executor.execute<{ there: boolean }>(sql`
    select to_regclass('outbox_about') is not null as there`);
  return row?.there === true;
}
