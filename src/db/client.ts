/**
 * The connection pool and the one way to it. Around every statement stands a guard that
 * - prepares it by name, which saves a round trip from its second execution on;
 * - drops the empty rows with which postgres.js 3.4.9 answers the statement after one that failed in the middle of its
 *   result (issue 1120);
 * - repeats a read once whose connection had been cut before it was sent;
 * - lets tests watch, count and pause statements.
 */
import { drizzle } from 'drizzle-orm/postgres-js';
import type { PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { decodeJson } from './codec.ts';
import * as schema from './schema.ts';

/** A pool or a transaction: what every statement of `src/db` is run on. */
export type Executor = PgDatabase<PostgresJsQueryResultHKT, typeof schema>;

/** Awaited before every statement and before every commit. `text` is the SQL, or `begin` or `commit`. */
export type StatementHook = (text: string) => Promise<void> | void;

export type Database = {
  /** Statements of their own, and the start of transactions. */
  readonly db: Executor;
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T>;
  /** Ends the pool; statements under way have `timeoutSeconds` to finish. */
  close(timeoutSeconds?: number): Promise<void>;
};

export type DatabaseOptions = {
  /** Connections at most. */
  max?: number;
  /** Shown in `pg_stat_activity`. */
  name?: string;
  hook?: StatementHook;
};

type Client = postgres.Sql | postgres.TransactionSql;

export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const client = postgres(url, {
    max: options.max ?? 10,
    connect_timeout: 10,
    backoff: (attempt: number) => Math.min(2, 0.05 * 2 ** attempt),
    connection: { application_name: options.name ?? 'nightshift' },
    onnotice: () => undefined,
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      jsonb: { to: 3802, from: [3802, 114], parse: decodeJson, serialize: String },
    },
  });
  const db: Executor = drizzle(guarded(client, options.hook) as postgres.Sql, { schema });
  return {
    db,
    transaction: (work) => db.transaction(work),
    close: (timeoutSeconds = 5) => client.end({ timeout: timeoutSeconds }),
  };
}

/** `client` with the guard around `unsafe` and `begin`, the two doors through which drizzle goes. */
function guarded(client: Client, hook: StatementHook | undefined): Client {
  const alone = 'begin' in client;
  return new Proxy(client, {
    get(target, member, receiver) {
      if (member === 'unsafe') {
        return (text: string, parameters: postgres.ParameterOrJSON<never>[] = []) =>
          statement(target, text, parameters, alone, hook);
      }
      if (member === 'begin' && 'begin' in target) {
        return async (work: (tx: Client) => Promise<unknown>) => {
          await hook?.('begin');
          return target.begin(async (tx) => {
            const result = await work(guarded(tx, hook));
            await hook?.('commit');
            return result;
          });
        };
      }
      return Reflect.get(target, member, receiver);
    },
  });
}

/** Looks like a pending query of postgres.js to drizzle: awaited for objects, or asked for `values()`. */
function statement(
  client: Client,
  text: string,
  parameters: postgres.ParameterOrJSON<never>[],
  alone: boolean,
  hook: StatementHook | undefined,
) {
  const send = () => client.unsafe(text, parameters, { prepare: true });
  const run = async (values: boolean): Promise<unknown[]> => {
    if (hook !== undefined) await hook(text);
    const once = async (): Promise<unknown[]> => dense(await (values ? send().values() : send()));
    try {
      return await once();
    } catch (error) {
      if (alone && isRead(text) && wasCut(error)) return once();
      throw error;
    }
  };
  return {
    values: () => run(true),
    // oxlint-disable-next-line unicorn/no-thenable -- drizzle awaits what `unsafe` returns, as it would the driver's own
    then: <A, B>(resolve?: (rows: unknown[]) => A, reject?: (error: unknown) => B) =>
      run(false).then(resolve, reject),
  };
}

/** The rows without the holes that a failed statement before this one left in front of them. */
export function dense<T>(rows: T[]): T[] {
  return rows.length > 0 && !(0 in rows) ? rows.filter(() => true) : rows;
}

function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text);
}

/** Codes of a connection that is gone: what was sent may not have been answered. */
const CUT = ['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE', '57P01'];

/** Codes of a server that cannot be reached, is full, or is starting or stopping. */
const AWAY = [
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
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

/** The code of a driver's or Postgres' error, through drizzle's wrapping; empty where there is none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return errorCode(error.cause);
}
