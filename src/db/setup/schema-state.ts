/**
 * Whether a database has the schema of this version. Migrations are compared by the hash of their text, so that a
 * database created by another build is recognised even if its migrations have the same names.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sql, type SQL } from 'drizzle-orm';
import { MIGRATE_LOGINS, WHY_UNLIMITED, unlimitedProblem, type Unlimited } from './api-login.ts';
import { errorCode } from '../connection/database-errors.ts';
import { MIGRATIONS, MIGRATION_JOURNAL, VERSION } from '../../package-files.ts';
import { MIGRATIONS_TABLE, OLDEST_COMMENT, isOlder, oldestIn } from './migrations-table.ts';

/**
 * `behind`: the names of the missing migrations, oldest first. `ahead`: migrated by a version beside which this one may
 * not run; `oldest` may. `foreign`: created by another build. `outbox`: the schema has that of a service. Only for a login that
 * row security is to limit: `unlimited`: it does not. `hidden`: the login sees no tables.
 */
export type SchemaState =
  | { kind: 'current' }
  | { kind: 'behind'; missing: readonly string[] }
  | { kind: 'ahead'; oldest: string }
  | { kind: 'foreign' }
  | { kind: 'outbox' }
  | { kind: 'unlimited'; why: Unlimited }
  | { kind: 'hidden' };

/** Whether the login that asks is one that row security is to limit. */
type Login = 'any' | 'to be limited';

/** Runs one statement on a connection whose `search_path` is the schema of the installation. */
type Ask = (statement: SQL) => Promise<readonly Record<string, unknown>[]>;

type Migration = { tag: string; hash: string };

/** Codes for a missing table or schema: no migration was ever applied. */
const NO_TABLE = ['42P01', '3F000'];

/** A database role that may not read the table of applied migrations is assumed to have a current schema. */
const NOT_ALLOWED = '42501';

/** The first migration of builds before 0.1.0, which kept their tables in `public`. */
const OLD_FIRST_MIGRATION = '89bfb9316c64e6dbd7db0c26cdf1235709e99715a1f50955c800dd0ae1bd1433';

/** Rejects if the database does not answer. A database with migrations of the next minor version counts as current. */
export async function schemaState(ask: Ask, login: Login = 'any'): Promise<SchemaState> {
  const known = await knownMigrations();
  const why = login === 'any' ? sql`null` : WHY_UNLIMITED;
  const statement = sql`select hash, ${why} as why, ${OLDEST_COMMENT} as comment
    from ${sql.identifier(MIGRATIONS_TABLE)} order by id`;
  const rows = await rowsOf<{ hash: string; why: Unlimited | null; comment: string | null }>(ask, statement);
  if (rows === 'not allowed') return login === 'any' ? { kind: 'current' } : { kind: 'hidden' };
  const [first] = rows;
  if (first?.why != null) return { kind: 'unlimited', why: first.why };
  if (first === undefined && (await isOldBuild(ask))) return { kind: 'foreign' };
  if (first === undefined && (await hasOutbox(ask))) return { kind: 'outbox' };
  if (first === undefined && login === 'to be limited') return { kind: 'hidden' };
  if (rows.some(({ hash }, at) => at < known.length && hash !== known[at]?.hash)) return { kind: 'foreign' };
  const oldest = oldestIn(first?.comment ?? null);
  if (oldest !== null && isOlder(VERSION, oldest)) return { kind: 'ahead', oldest };
  const missing = known.slice(rows.length).map(({ tag }) => tag);
  return missing.length === 0 ? { kind: 'current' } : { kind: 'behind', missing };
}

/** For the operator: what is wrong, and what to do. */
type SchemaProblem = { reason: string; advice: string };

export function schemaProblem(state: SchemaState): SchemaProblem | null {
  switch (state.kind) {
    case 'current':
      return null;
    case 'behind': {
      const { missing } = state;
      return {
        reason: `The database lacks the ${missing.length === 1 ? 'migration' : 'migrations'} ${missing.join(', ')}.`,
        advice: 'Run `nightshift migrate` (in a clone: `npm run migrate`).',
      };
    }
    case 'ahead':
      return {
        reason: `The database was migrated by a newer version of Nightshift. Processes need version ${state.oldest} or newer; this is ${VERSION}.`,
        advice: 'Upgrade this process.',
      };
    case 'unlimited':
      return unlimitedProblem(state.why);
    case 'hidden':
      return { reason: 'The login of NIGHTSHIFT_API_DATABASE_URL sees no tables.', advice: MIGRATE_LOGINS };
    case 'outbox':
      return {
        reason:
          'The schema has the outbox of a service, from which jobs are relayed to the database of Nightshift, which is another one.',
        advice:
          'Set DATABASE_URL to that database, or NIGHTSHIFT_DATABASE_SCHEMA to another schema. `nightshift outbox remove` removes an outbox that is not used any more.',
      };
    case 'foreign':
      return {
        reason: 'The database was created by another build of Nightshift, and its schema cannot be upgraded.',
        advice:
          'Export its contexts with that build (`nightshift export`), start with an empty database, and import them (`nightshift import`).',
      };
  }
}

/** Reason and advice in one text. Null: nothing is wrong. */
export function describeSchemaProblem(state: SchemaState): string | null {
  const problem = schemaProblem(state);
  return problem === null ? null : `${problem.reason} ${problem.advice}`;
}

async function isOldBuild(ask: Ask): Promise<boolean> {
  const rows = await rowsOf<{ hash: string }>(
    ask,
    sql`select hash from drizzle.__drizzle_migrations order by id limit 1`,
  );
  return rows !== 'not allowed' && rows[0]?.hash === OLD_FIRST_MIGRATION;
}

async function hasOutbox(ask: Ask): Promise<boolean> {
  const rows = await ask(sql`select 1 where to_regclass('outbox_about') is not null`);
  return rows.length > 0;
}

async function rowsOf<Row extends Record<string, unknown>>(
  ask: Ask,
  statement: SQL,
): Promise<readonly Row[] | 'not allowed'> {
  try {
    return (await ask(statement)) as readonly Row[];
  } catch (error) {
    if (errorCode(error) === NOT_ALLOWED) return 'not allowed';
    if (NO_TABLE.includes(errorCode(error))) return [];
    throw error;
  }
}

let migrations: Promise<Migration[]> | null = null;

/** The migrations of this version, oldest first, from drizzle-kit's journal. Read once. */
function knownMigrations(): Promise<Migration[]> {
  migrations ??= readMigrations();
  return migrations;
}

async function readMigrations(): Promise<Migration[]> {
  const { entries } = JSON.parse(await readFile(MIGRATION_JOURNAL, 'utf8')) as { entries: { tag: string }[] };
  return Promise.all(
    entries.map(async ({ tag }) => {
      const text = await readFile(path.join(MIGRATIONS, `${tag}.sql`));
      return { tag, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
