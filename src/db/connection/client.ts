/**
 * The only access to the database. Every statement is prepared by name, which saves a round trip from its second
 * execution on the same connection. A read, or the start of a transaction, is sent again if the connection is cut. A
 * statement or transaction that does not get a lock in time is retried. Tests can observe, count and pause statements.
 *
 * A handwritten statement starts with a tag, such as the comment `contexts.claim`, if it writes or locks rows or does
 * not begin with `select`. Tags identify statements in pg_stat_activity and in tests.
 */
import { PgDialect, type PgDatabase } from 'drizzle-orm/pg-core';
import { PgRemoteDatabase, PgRemoteSession, type PgRemoteQueryResultHKT } from 'drizzle-orm/pg-proxy';
import { DATABASE_SCHEMA } from '../../core/database-schema.ts';
import type { Connection, Parameters as StatementParameters, SessionLimits } from './connection.ts';
import { IDLE_TOO_LONG, errorCode, wasCut } from './database-errors.ts';
import { whileLocked } from './lock-retry.ts';
import { Pool } from './pool.ts';
import { readLimits } from './read-limits.ts';
import { ALL_TENANTS, currentSetting } from './tenant-setting.ts';
import { GivenUp, Transaction, begun } from './transaction.ts';

export { GivenUp } from './transaction.ts';

/** A pool or a transaction: every statement of `src/db` runs on one. */
export type Executor = PgDatabase<PgRemoteQueryResultHKT>;

/** Of each pool: the tenant for which it runs a statement now. */
const pools = new WeakMap<Executor, TenantOf>();

/** Whether each statement commits by itself. */
export function isPool(executor: Executor): boolean {
  return pools.has(executor);
}

/** Parts of callers with different groups must not share a statement of this pool: row security would hide some. */
export function groupOf(pool: Executor): string {
  return pools.get(pool)?.() ?? '';
}

/** Whether row security limits its statements. Conditions that it keeps from an index then use a view (search-views.ts). */
export function isLimited(executor: Executor): boolean {
  return executor instanceof LimitedExecutor;
}

/** Awaited before every statement and before every commit. `text` is the SQL with its tag, or `begin` or `commit`. */
export type StatementHook = (text: string) => Promise<void> | void;

export type Database = DatabaseAccess & {
  /** For all tenants, whatever the setting of the caller's context; the same as the rest if row security is not used. */
  readonly everywhere: DatabaseAccess;
  /** Closes the pool; running statements have `timeoutSeconds` to finish. */
  close(timeoutSeconds?: number): Promise<void>;
};

export type DatabaseAccess = {
  /** Runs each statement outside a transaction. */
  readonly db: Executor;
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it throws. A statement sent through
   * `last`, at most one, ends the transaction: the commit is sent in the same round trip. With `lockTimeoutMs`, `work`
   * may run more than once. When `signal` aborts, the call rejects with `GivenUp` at once and its connection is closed.
   */
  transaction<T>(work: (tx: Executor, last: Executor) => Promise<T>, options?: { signal?: AbortSignal }): Promise<T>;
  /**
   * Reads in one transaction, in which PostgreSQL cancels a statement that takes longer than `statementMs` (57014). If
   * the connection is lost, `read` runs once more. A read of one statement uses `last`, and then takes one round trip.
   */
  read<T>(read: (tx: Executor, last: Executor) => Promise<T>, options: ReadOptions): Promise<T>;
};

/** `signal`: as for a transaction. The server also stops working on the statement. */
type ReadOptions = { statementMs: number; signal?: AbortSignal };

export type DatabaseOptions = {
  /** Maximum number of connections. */
  max?: number;
  /** The PostgreSQL schema of the tables. */
  schema?: string;
  /** Shown in `pg_stat_activity`. */
  name?: string;
  /** A connection that does not answer a statement for this many milliseconds is closed. */
  silentMs?: number;
  /** Timeouts enforced by the server; none by default. */
  limits?: Partial<SessionLimits>;
  /**
   * How long to retry for a lock, in milliseconds: when `limits.lock` ends a statement, the statement is sent again,
   * and its transaction runs again from its start. No connection is used between tries. Without it, there is no retry.
   */
  lockTimeoutMs?: number;
  /** Runs before each retry for a lock; it may free the lock. */
  onLocked?: (executor: Executor) => Promise<void>;
  /** Each transaction names the tenant of its context (tenant-setting.ts): for a login that row security limits. */
  namesTenant?: boolean;
  hook?: StatementHook;
};

/** Longer than any statement of Nightshift takes. */
const SILENT_MS = 15_000;

export const NO_LIMITS: SessionLimits = { idleInTransaction: 0, unread: 0, lock: 0 };

export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const pool = openPool(url, options);
  return { ...databaseOn(pool, options), close: (timeoutSeconds = 5) => pool.close(timeoutSeconds) };
}

/** The connections of a database, and what the server knows about them. */
export function openPool(
  url: string,
  { max = 10, schema = DATABASE_SCHEMA, name = 'nightshift', silentMs = SILENT_MS, limits }: DatabaseOptions,
): Pool {
  const turn = { host: 0 };
  return new Pool(max, { url, schema, values: 'own', name, silentMs, turn, limits: { ...NO_LIMITS, ...limits } });
}

/** The value of the tenant's setting; null: no setting. */
type TenantOf = () => string | null;

const NO_SETTING: TenantOf = () => null;

type AccessOptions = Pick<DatabaseOptions, 'lockTimeoutMs' | 'onLocked' | 'namesTenant' | 'hook'>;

/** Statements through a pool that its owner closes. */
export function databaseOn(pool: Pool, options: AccessOptions): Omit<Database, 'close'> {
  if (options.namesTenant !== true) {
    const access = accessTo(pool, options, NO_SETTING);
    return { ...access, everywhere: access };
  }
  return { ...accessTo(pool, options, currentSetting), everywhere: accessTo(pool, options, () => ALL_TENANTS) };
}

function accessTo(
  pool: Pool,
  { lockTimeoutMs = 0, onLocked, hook }: AccessOptions,
  tenantOf: TenantOf,
): DatabaseAccess {
  const limited = tenantOf !== NO_SETTING;
  const untilFree = <T>(attempt: () => Promise<T>): Promise<T> =>
    whileLocked(lockTimeoutMs, async () => onLocked?.(executor(ask, limited)), attempt);
  const ask: Ask = (text, parameters, values) => {
    const tenant = tenantOf();
    return pool.use(async (connection, renew) => {
      try {
        return await askFor(tenant, connection, [text, parameters, values]);
      } catch (error) {
        const other = isUndone(error, text) ? renew() : null;
        if (other === null) throw error;
        return askFor(tenant, other, [text, parameters, values]);
      }
    });
  };
  const transaction: DatabaseAccess['transaction'] = async (work, { signal } = {}) =>
    untilFree(async () => {
      const tenant = tenantOf();
      if (hook !== undefined) await hook('begin');
      return pool.use(async (connection, renew) => {
        if (signal?.aborted === true) throw new GivenUp();
        const transaction = new Transaction(connection, (error) => (wasCut(error) ? renew() : null), tenant);
        const giveUp = (): void => transaction.giveUp();
        signal?.addEventListener('abort', giveUp);
        try {
          return await within(transaction, work, hook, limited);
        } finally {
          signal?.removeEventListener('abort', giveUp);
        }
      });
    });
  const db = executor(async (text, parameters, values) => {
    if (hook !== undefined) await hook(text);
    return untilFree(() => ask(text, parameters, values));
  }, limited);
  pools.set(db, tenantOf);
  return {
    db,
    transaction,
    read: (read, options) => readWithin(transaction, read, options),
  };
}

/** A statement that commits by itself; with a tenant a transaction of its own, in the same round trip. */
async function askFor(tenant: string | null, connection: Connection, asked: Parameters<Ask>): Promise<unknown[]> {
  if (tenant === null) return connection.ask(...asked);
  const [answer] = await Promise.all([begun(connection, tenant, asked), connection.ask('commit')]);
  return answer;
}

async function readWithin<T>(
  transaction: DatabaseAccess['transaction'],
  read: (tx: Executor, last: Executor) => Promise<T>,
  { statementMs, signal }: ReadOptions,
): Promise<T> {
  const options = signal === undefined ? {} : { signal };
  const limits = readLimits(statementMs);
  try {
    return await transaction(async (tx, last) => {
      // `then` sends the limits first, in one round trip with the first statement of `read`.
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

async function within<T>(
  transaction: Transaction,
  work: (tx: Executor, last: Executor) => Promise<T>,
  hook: StatementHook | undefined,
  limited: boolean,
): Promise<T> {
  let received: Promise<void> = Promise.resolve();
  const tx = executor(async (text, parameters, values) => {
    if (hook !== undefined) {
      // Statements sent together keep their order, however long the hook takes for each.
      received = received.then(() => hook(text));
      await received;
    }
    return transaction.ask(text, parameters, values);
  }, limited);
  const last = executor(async (text, parameters, values) => {
    if (hook !== undefined) {
      await received;
      await hook(text);
      await hook('commit');
    }
    return transaction.askLast(text, parameters, values);
  }, limited);
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
type Ask = (text: string, parameters: StatementParameters, values: boolean) => Promise<unknown[]>;

class LimitedExecutor extends PgRemoteDatabase {}

/** Sends what drizzle builds through `ask`. Cheap to create: every transaction has its own. */
function executor(ask: Ask, limited: boolean): Executor {
  const session = new PgRemoteSession(
    async (text, parameters: StatementParameters, method) => ({
      rows: await ask(text, parameters, method === 'all'),
    }),
    dialect,
    undefined,
  );
  return new (limited ? LimitedExecutor : PgRemoteDatabase)(dialect, session, undefined);
}

/** Whether nothing of the statement is committed, so that it may be sent again. */
function isUndone(error: unknown, text: string): boolean {
  return (wasCut(error) && isRead(text)) || errorCode(error) === IDLE_TOO_LONG;
}

function isRead(text: string): boolean {
  return /^\s*(?:\/\*.*?\*\/\s*)?select\b/i.test(text);
}
