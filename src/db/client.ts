/**
 * The database, and the one way to it. Every statement is prepared by name, which saves a round trip from its second
 * execution on a line on; a read, and the beginning of a transaction, is sent again where the line was cut; what did not get
 * a lock in time is done again; tests may watch, count and pause statements.
 *
 * A statement that is written by hand begins with a tag, such as the comment `contexts.claim`: what writes or locks rows, and
 * what does not begin with `select`. Tags tell statements apart in pg_stat_activity and in tests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createTableRelationsHelpers, extractTablesRelationalConfig } from 'drizzle-orm';
import type { ExtractTablesWithRelations } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import { PgRemoteDatabase, PgRemoteSession } from 'drizzle-orm/pg-proxy';
import type { PgRemoteQueryResultHKT } from 'drizzle-orm/pg-proxy';
import { DATABASE_SCHEMA } from '../core/database-schema.ts';
import type { Parameters, SessionLimits } from './connection.ts';
import { Pool } from './pool.ts';
import { readLimits } from './read-limits.ts';
import * as schema from './schema.ts';
import { GivenUp, Transaction } from './transaction.ts';

export { GivenUp } from './transaction.ts';

/** A pool or a transaction: what every statement of `src/db` is run on. */
export type Executor = PgDatabase<PgRemoteQueryResultHKT, typeof schema>;

/** Awaited before every statement and before every commit. `text` is the SQL with its tag, or `begin` or `commit`. */
export type StatementHook = (text: string) => Promise<void> | void;

export type Database = {
  /** Statements of their own. */
  readonly db: Executor;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. What is asked of `last`, once
   * at most, ends it: the commit is sent with that statement, and both are answered together. With `lockPatienceMs` it may be
   * run more than once. Once `signal` is raised nobody waits for it: it rejects with `GivenUp`, and its connection is closed.
   */
  transaction<T>(
    work: (tx: Executor, last: Executor) => Promise<T>,
    options?: { signal?: AbortSignal },
  ): Promise<T>;
  /**
   * Reads in one transaction, in which PostgreSQL cancels a statement that takes longer than `statementMs` (57014). Where the
   * connection is lost, `read` is run once more. A read of one statement asks `last`: it takes one round trip then.
   */
  read<T>(read: (tx: Executor, last: Executor) => Promise<T>, options: ReadOptions): Promise<T>;
  /** Ends the pool; statements under way have `timeoutSeconds` to finish. */
  close(timeoutSeconds?: number): Promise<void>;
};

/** `signal`: as that of a transaction. The server stops working on what was asked, too. */
export type ReadOptions = { statementMs: number; signal?: AbortSignal };

export type DatabaseOptions = {
  /** Connections at most. */
  max?: number;
  /** The PostgreSQL schema of the tables. */
  schema?: string;
  /** Shown in `pg_stat_activity`. */
  name?: string;
  /** A connection that was asked and says nothing for so long is given up, in milliseconds. */
  silentMs?: number;
  /** What the server ends by itself; nothing unless given. */
  limits?: Partial<SessionLimits>;
  /**
   * How long a lock is tried for, in milliseconds: where `limits.lock` ends a statement, it is asked again, and its transaction
   * done again from its beginning. Meanwhile no connection is held. Without it: not again.
   */
  lockTimeoutMs?: number;
  /** Before a lock is tried again: what may free it. */
  onLocked?: (executor: Executor) => Promise<void>;
  hook?: StatementHook;
};

/** Longer than any statement here takes. */
const SILENT_MS = 15_000;

const NO_LIMITS: SessionLimits = { idleInTransaction: 0, unread: 0, lock: 0 };

export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const {
    max = 10,
    schema: searchPath = DATABASE_SCHEMA,
    name = 'nightshift',
    silentMs = SILENT_MS,
    lockTimeoutMs = 0,
    hook,
  } = options;
  const limits = { ...NO_LIMITS, ...options.limits };
  const untilFree = <T>(attempt: () => Promise<T>): Promise<T> =>
    whileLocked(lockTimeoutMs, async () => options.onLocked?.(executor(ask)), attempt);
  const pool = new Pool(max, { url, schema: searchPath, name, silentMs, turn: { host: 0 }, limits });
  const ask: Ask = (text, parameters, values) =>
    pool.use(async (connection, renew) => {
      try {
        return await connection.ask(text, parameters, values);
      } catch (error) {
        const other = wasCut(error) && isRead(text) ? renew() : null;
        if (other === null) throw error;
        return other.ask(text, parameters, values);
      }
    });
  const transaction: Database['transaction'] = async (work, { signal } = {}) =>
    untilFree(async () => {
      if (hook !== undefined) await hook('begin');
      return pool.use(async (connection, renew) => {
        if (signal?.aborted === true) throw new GivenUp();
        const transaction = new Transaction(connection, (error) => (wasCut(error) ? renew() : null));
        const giveUp = (): void => transaction.giveUp();
        signal?.addEventListener('abort', giveUp);
        try {
          return await within(transaction, work, hook);
        } finally {
          signal?.removeEventListener('abort', giveUp);
        }
      });
    });
  return {
    db: executor(async (text, parameters, values) => {
      if (hook !== undefined) await hook(text);
      return untilFree(() => ask(text, parameters, values));
    }),
    transaction,
    read: (read, options) => readWithin(transaction, read, options),
    close: (timeoutSeconds = 5) => pool.close(timeoutSeconds),
  };
}

async function readWithin<T>(
  transaction: Database['transaction'],
  read: (tx: Executor, last: Executor) => Promise<T>,
  { statementMs, signal }: ReadOptions,
): Promise<T> {
  const options = signal === undefined ? {} : { signal };
  const limits = readLimits(statementMs);
  try {
    return await transaction(async (tx, last) => {
      // `then` sends it: before, and in one round trip with, what `read` asks first.
      const limited = tx.execute(limits).then(() => undefined);
      const [, value] = await Promise.all([limited, read(tx, last)]);
      return value;
    }, options);
  } catch (error) {
    if (!wasCut(error)) throw error;
  }
  return transaction(async (tx, last) => {
    await tx.execute(limits);
    return read(tx, last);
  }, options);
}

/** Between two tries at a lock, in milliseconds, and up to twice as long. */
const PAUSE_MS = 50;

/** Nothing was written where a lock was not to be had. */
async function whileLocked<T>(
  timeoutMs: number,
  free: () => Promise<void>,
  attempt: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (errorCode(error) !== LOCKED || performance.now() >= end) throw error;
    }
    await free();
    await sleep(PAUSE_MS * (1 + Math.random()));
  }
}

async function within<T>(
  transaction: Transaction,
  work: (tx: Executor, last: Executor) => Promise<T>,
  hook: StatementHook | undefined,
): Promise<T> {
  let received: Promise<void> = Promise.resolve();
  const tx = executor(async (text, parameters, values) => {
    if (hook !== undefined) {
      // What is asked at once is sent in its order, however long the hook takes over each.
      received = received.then(() => hook(text));
      await received;
    }
    return transaction.ask(text, parameters, values);
  });
  const last = executor(async (text, parameters, values) => {
    if (hook !== undefined) {
      await received;
      await hook(text);
      await hook('commit');
    }
    return transaction.askLast(text, parameters, values);
  });
  try {
    const result = await work(tx, last);
    if (hook !== undefined && !transaction.ended) await hook('commit');
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

const dialect = new PgDialect();
const { tables, tableNamesMap } = extractTablesRelationalConfig<ExtractTablesWithRelations<typeof schema>>(
  schema,
  createTableRelationsHelpers,
);
const known = { fullSchema: schema, schema: tables, tableNamesMap };

type Ask = (text: string, parameters: Parameters, values: boolean) => Promise<unknown[]>;

/** What drizzle builds, asked of `ask`. Cheap: every transaction has its own. */
function executor(ask: Ask): Executor {
  const session = new PgRemoteSession(
    async (text, parameters: Parameters, method) => ({
      rows: await ask(text, parameters, method === 'all'),
    }),
    dialect,
    known,
  );
  return new PgRemoteDatabase<typeof schema>(dialect, session, known);
}

function isRead(text: string): boolean {
  return /^\s*(?:\/\*.*?\*\/\s*)?select\b/i.test(text);
}

/** A lock did not become free in time. */
const LOCKED = '55P03';

/** Codes of a connection that is gone: what was sent may not have been answered. */
const CUT = [
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  '57P01',
  // Its transaction stood still for too long.
  '25P03',
];

/** Codes of a server that cannot be reached, is full, or is starting or stopping. */
const AWAY = [
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  '53300',
  '57P02',
  '57P03',
];

function wasCut(error: unknown): boolean {
  return CUT.includes(errorCode(error));
}

/** Whether Postgres is away for the moment: worth asking again later. */
export function isUnavailable(error: unknown): boolean {
  return wasCut(error) || AWAY.includes(errorCode(error));
}

/** A statement was cancelled: it took longer than its limit. */
export const CANCELLED = '57014';

/** The code of a driver's or Postgres' error, through drizzle's wrapping; empty where there is none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return errorCode(error.cause);
}
