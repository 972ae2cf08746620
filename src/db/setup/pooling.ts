/**
 * Whether connections of a URL keep their session. A pooler such as PgBouncer may run each transaction, or even each
 * statement, in another session of the server. No question of the protocol tells it, so this
 * looks at what happens to two connections.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import postgres from 'postgres';
import { startParameters, type SessionLimits } from '../connection/connection.ts';
import { errorCode, errorText, wasCut } from '../connection/database-errors.ts';

/**
 * `direct`: the server itself. `session`: a pooler that keeps the session of a connection. `transaction`: one that keeps
 * it for a transaction. `unprepared`: the same, and statements that a connection has prepared are lost. `statement`: one
 * that keeps it for a statement.
 */
export type Pooling = 'direct' | 'session' | 'transaction' | 'unprepared' | 'statement';

export type ConnectionSight = {
  pooling: Pooling;
  /** What connections of this URL have, whatever they started with. */
  searchPath: string;
  /** In milliseconds. */
  idleInTransaction: number;
  lock: number;
  /** The same for two URLs of one database. */
  place: string;
};

/** Longer than a pooler takes to open two connections of the server. */
const ANSWERED_WITHIN_MS = 10_000;
/** A pooler that gives a free session to the next who asks does so in the first one, unless others ask at the same time. */
const ROUNDS = 8;
/** The other connection may have the only session of a pooler. */
const FREE_WITHIN_MS = 500;

/** Rejects with the driver's error, or with CONNECT_TIMEOUT. */
export async function inspectPooling(url: string, schema: string, limits: SessionLimits): Promise<ConnectionSight> {
  const connections = [0, 1].map(() =>
    postgres(url, {
      max: 1,
      max_lifetime: null,
      connect_timeout: ANSWERED_WITHIN_MS / 1_000,
      // A cut during that query would cause an unhandled rejection.
      fetch_types: false,
      onnotice: () => undefined,
      connection: startParameters({ schema, name: 'nightshift', limits }),
    }),
  );
  const [first, second] = connections;
  if (first === undefined || second === undefined) throw new Error('There are two connections.');
  try {
    return await pTimeout(inspect(first, second), {
      milliseconds: ANSWERED_WITHIN_MS,
      message: new NoSession(),
    });
  } finally {
    await Promise.all(connections.map((sql) => sql.end({ timeout: 0 })));
  }
}

type Facts = Omit<ConnectionSight, 'pooling'> & { pid: number };

async function inspect(first: postgres.Sql, second: postgres.Sql): Promise<ConnectionSight> {
  const rows = await first<Facts[]>`
    select pg_backend_pid() as pid, current_setting('search_path') as "searchPath",
      (select setting::int from pg_settings where name = 'idle_in_transaction_session_timeout') as "idleInTransaction",
      (select setting::int from pg_settings where name = 'lock_timeout') as lock,
      extract(epoch from pg_postmaster_start_time())::text || ' ' || (select oid from pg_database where datname = current_database()) as place`;
  const [facts] = rows;
  if (facts === undefined) throw new Error('PostgreSQL returned no row.');
  const { pid, ...sight } = facts;
  return { ...sight, pooling: isServer(rows.state, pid) ? 'direct' : await poolingOf(first, second) };
}

/** A pooler names another process for the cancellation of statements than the one that runs them. */
export function isServer(state: { pid: number }, pid: number): boolean {
  return state.pid === pid;
}

async function poolingOf(first: postgres.Sql, second: postgres.Sql): Promise<Pooling> {
  if (!(await hasTransactions(second))) {
    // It answers statements, so it is not away.
    await backendOf(first);
    return 'statement';
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const seen = await playRound(first, second);
    if (seen !== 'session') return seen;
  }
  return 'session';
}

/**
 * PgBouncer closes a connection that begins a transaction and says why; others may run its statements in several sessions.
 * Rejects with another error, such as that of a pooler without a free session.
 */
async function hasTransactions(sql: postgres.Sql): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await sql.begin(async (tx) => {
        await tx`select set_config('nightshift.probe', 'on', true)`;
        const [row] = await tx`select current_setting('nightshift.probe', true) as kept`;
        return row?.['kept'] === 'on';
      });
    } catch (error) {
      if (/statement pooling/.test(errorText(error))) return false;
      // A connection that was cut in between is opened again once.
      if (!wasCut(error) || tries > 0) throw error;
    }
  }
}

/**
 * The second connection begins a transaction while the first one is idle. If it runs in the session of the first one,
 * that is another one now.
 */
async function playRound(first: postgres.Sql, second: postgres.Sql): Promise<Pooling> {
  const before = await backendOf(first);
  const { pid, after } = await second.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    // In a transaction, since the driver repeats a single statement that is unknown.
    const after = first.begin((own) => backendOf(own)).catch(unprepared);
    await Promise.race([after, sleep(FREE_WITHIN_MS)]);
    return { pid: row?.pid, after };
  });
  const later = await after;
  if (later === 'unprepared') return 'unprepared';
  return pid === before || later !== before ? 'transaction' : 'session';
}

/** The driver prepares it the first time, and names it from then on. */
async function backendOf(sql: postgres.ISql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** There is no prepared statement of this name, and a transaction in which that was found out. */
const UNKNOWN_STATEMENT = ['26000', '25P02'];

function unprepared(error: unknown): 'unprepared' {
  if (!UNKNOWN_STATEMENT.includes(errorCode(error))) throw error;
  return 'unprepared';
}

/** The pooler has no session for these connections. */
class NoSession extends Error {
  override name = 'NoSession';
  readonly code = 'CONNECT_TIMEOUT';
  constructor() {
    super(`The pooler gave no session of PostgreSQL within ${ANSWERED_WITHIN_MS / 1_000} s.`);
  }
}
