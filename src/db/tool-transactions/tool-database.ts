/**
 * The connections of transactional tools: in the database of Nightshift, under a login of the operator's service. Before
 * any call runs, it is checked that this is the same database, and that the login may settle calls.
 */
import { randomInt } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { TransactionLimits } from '../../core/tools/transaction.ts';
import type { RunningCall } from '../calls/tool-steps.ts';
import type { Database, Executor } from '../connection/client.ts';
import type { Connection } from '../connection/connection.ts';
import { errorCode, isUnavailable, refusalText } from '../connection/database-errors.ts';
import { Pool } from '../connection/pool.ts';
import { DatabaseRefused } from '../setup/database-refused.ts';
import { attempt, type Attempted, type Work } from './attempt.ts';
import { SETTLE_FUNCTION } from './settlements.ts';

export type ToolDatabase = {
  /** One try. Waits for a free connection until the signal is aborted. */
  attempt(call: RunningCall, work: Work, limits: TransactionLimits): Promise<Attempted>;
  /** Transactions that run have `timeoutSeconds` to finish. */
  close(timeoutSeconds?: number): Promise<void>;
};

/** `schema`: of the tables of Nightshift. */
export type ToolDatabaseOptions = { url: string; max: number; schema: string };

/** The calls have time limits of their own, so neither a statement nor a wait for a connection has one. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Their application name. Without `SESSION_PREFIX`: what waits between two statements may be the tool, and not a frozen
 * process of Nightshift, so no sweep ends these sessions. PostgreSQL does, after their own limits.
 */
const TOOL_SESSIONS = 'tools-of-nightshift';

/** Rejects with `DatabaseRefused`, or because a database does not answer. Then nothing is left open. */
export async function openToolDatabase(
  own: Database,
  { url, max, schema }: ToolDatabaseOptions,
): Promise<ToolDatabase> {
  const pool = new Pool(max, {
    url,
    schema: null,
    values: 'plain',
    name: TOOL_SESSIONS,
    silentMs: NEVER_MS,
    turn: { host: 0 },
    limits: { idleInTransaction: 0, unread: 0, lock: 0 },
  });
  try {
    await pool.use((connection) => connection.ask('select 1')).catch(throwRefusal);
    await check(own, pool, schema);
  } catch (error) {
    await pool.close(0);
    throw error;
  }
  return {
    attempt: (call, work, limits) => attempt({ pool, schema }, call, work, limits),
    close: (timeoutSeconds = 5) => pool.close(timeoutSeconds),
  };
}

function throwRefusal(error: unknown): never {
  const refusal = refusalText(error);
  if (refusal !== null)
    throw new ToolLoginRefused(
      `PostgreSQL refused NIGHTSHIFT_TOOLS_DATABASE_URL: ${refusal}.`,
      'Check the login, its password and the database of the URL.',
      { cause: error },
    );
  if (isUnavailable(error)) throw new ToolDatabaseAway(error);
  throw error;
}

/** The login cannot be used as it is. */
export class ToolLoginRefused extends DatabaseRefused {
  readonly reason: string;
  readonly advice: string;

  constructor(reason: string, advice: string, options?: ErrorOptions) {
    super(`${reason} ${advice}`, options);
    this.reason = reason;
    this.advice = advice;
  }
}

/** Has the code of its cause, so that the start waits for it. */
export class ToolDatabaseAway extends Error {
  override name = 'ToolDatabaseAway';
  readonly code: string;

  constructor(cause: unknown) {
    const code = errorCode(cause);
    super(`PostgreSQL does not answer at NIGHTSHIFT_TOOLS_DATABASE_URL (${code}).`, { cause });
    this.code = code;
  }
}

/** An arbitrary lock number that is used only here. */
const SAME_DATABASE = 7_227_006;

const HIGHEST_INT = 2 ** 31 - 1;

/**
 * A lock that one login holds is not free for the other one, if both are in the same database of the same server. URLs prove
 * nothing: two may lead to one database, and one to several servers.
 */
async function check(own: Database, pool: Pool, schema: string): Promise<void> {
  const role = await own.transaction(async (tx) => {
    const lock = randomInt(HIGHEST_INT);
    await tx.execute(sql`/* tool_transactions.hold_lock */
      select pg_advisory_xact_lock(${SAME_DATABASE}::int, ${lock}::int)`);
    const seen = await pool.use((connection) => readLogin(connection, lock)).catch(throwRefusal);
    if (seen.isFree)
      throw new ToolLoginRefused(
        'NIGHTSHIFT_TOOLS_DATABASE_URL leads to another database than DATABASE_URL.',
        'Transactional tools work in the database of Nightshift, under another login.',
      );
    return seen.role;
  });
  if (await maySettle(own.db, schema, role)) return;
  throw new ToolLoginRefused(
    `The login “${role}” of NIGHTSHIFT_TOOLS_DATABASE_URL may not settle calls of any tenant.`,
    `Run: nightshift submissions grant --role ${role} --tenant <tenant>`,
  );
}

type Seen = { role: string; isFree: boolean };

async function readLogin(connection: Connection, lock: number): Promise<Seen> {
  const text = `select current_user as role, pg_try_advisory_xact_lock(${SAME_DATABASE}, $1::int) as "isFree"`;
  const [row] = await connection.ask(text, [String(lock)]);
  if (typeof row === 'object' && row !== null && 'role' in row && 'isFree' in row)
    if (typeof row.role === 'string' && typeof row.isFree === 'boolean') return { role: row.role, isFree: row.isFree };
  throw new Error('PostgreSQL did not tell its login.');
}

/** The owner of the tables may for every tenant, another role for those of its grants. */
async function maySettle(executor: Executor, schema: string, role: string): Promise<boolean> {
  const [row] = await executor.execute<{ may: boolean }>(sql`
    select pg_has_role(${role}::name, c.relowner, 'USAGE') or (
      has_schema_privilege(${role}::name, ${schema}::text, 'USAGE')
      and has_function_privilege(${role}::name, ${SETTLE_FUNCTION}::regprocedure, 'EXECUTE')
      and exists (select 1 from submission_grants g join pg_roles r on r.rolname = g.role_name
        where pg_has_role(${role}::name, r.oid, 'USAGE'))) as may
    from pg_class c where c.oid = 'contexts'::regclass`);
  return row?.may === true;
}
