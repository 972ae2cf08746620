/**
 * The connection pool and the one way to it. Around every statement stands a guard that
 * - prepares it by name, which saves a round trip from its second execution on;
 * - drops the empty rows with which postgres.js 3.4.9 answers the statement after one that failed in the middle of its
 *   result (issue 1120);
 * - repeats a read, and the beginning of a transaction, whose connection had been cut;
 * - sends nothing more on a transaction's connection that is lost, not even the driver's own rollback or commit: it would
 *   be written to a socket that is gone, and what that throws ends the process, or to the next connection, outside of any
 *   transaction (issues 1208 and 1155);
 * - lets tests watch, count and pause statements.
 */
import { setTimeout } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/postgres-js';
import type { PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { decodeJson } from './codec.ts';
import * as schema from './schema.ts';
import { SilenceWatch } from './silent-socket.ts';

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
  /** A connection that was asked and says nothing for so long is given up, in milliseconds. */
  silentMs?: number;
  hook?: StatementHook;
};

/** Longer than any statement here takes. */
const SILENT_MS = 15_000;

type Client = postgres.Sql | postgres.TransactionSql;

export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const silence = new SilenceWatch(options.silentMs ?? SILENT_MS);
  // The driver takes this one too, though its types do not say so.
  const unlisted = { socket: silence.open.bind(silence) };
  const client = postgres(url, {
    max: options.max ?? 10,
    connect_timeout: 10,
    // Else each new connection asks for the types of arrays, unheard: one that is cut then rejects into the void. The price:
    // statements give lists as jsonb.
    fetch_types: false,
    backoff: (attempt: number) => Math.min(2, 0.05 * 2 ** attempt),
    connection: { application_name: options.name ?? 'nightshift' },
    onnotice: () => undefined,
    ...unlisted,
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      jsonb: { to: 3802, from: [3802, 114], parse: decodeJson, serialize: String },
    },
  });
  const guard: Guard = { hook: options.hook, silence };
  const db: Executor = drizzle(guarded(client, guard) as postgres.Sql, { schema });
  return {
    db,
    transaction: (work) => db.transaction(work),
    async close(timeoutSeconds = 5) {
      await client.end({ timeout: timeoutSeconds });
      silence.close();
    },
  };
}

/** What stands around every statement. */
type Guard = { hook: StatementHook | undefined; silence: SilenceWatch };

/** The connection of one transaction. */
type Line = { lost: boolean };

/** `client` with the guard around `unsafe` and `begin`, the two doors through which drizzle goes. `line`: in a transaction. */
function guarded(client: Client, guard: Guard, line: Line | null = null): Client {
  return new Proxy(client, {
    get(target, member, receiver) {
      if (member === 'unsafe') {
        return (text: string, parameters: postgres.ParameterOrJSON<never>[] = []) =>
          statement(target, text, parameters, line, guard);
      }
      if (member === 'begin' && 'begin' in target) {
        return async (work: (tx: Client) => Promise<unknown>) => {
          await guard.hook?.('begin');
          let begun = false;
          const once = () =>
            transact(target, guard, (tx) => {
              begun = true;
              return work(tx);
            });
          return guard.silence.during(() => overCuts(once, () => !begun));
        };
      }
      return Reflect.get(target, member, receiver);
    },
  });
}

/** The driver rejects `begin` by itself when its connection is lost; the function that it waits for then never ends. */
function transact(
  client: postgres.Sql,
  guard: Guard,
  work: (tx: Client) => Promise<unknown>,
): Promise<unknown> {
  const line: Line = { lost: false };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const transaction = client.begin(async (tx) => {
    try {
      const result = await work(guarded(tx, guard, line));
      await guard.hook?.('commit');
      return line.lost ? never() : result;
    } catch (error) {
      // A statement hears of the cut a moment before its transaction does.
      if (isUnavailable(error)) await Promise.race([ended, setTimeout(CLOSING_MS)]);
      if (line.lost) return never();
      throw error;
    }
  });
  transaction
    .catch(() => {
      line.lost = true;
    })
    .finally(end);
  return transaction;
}

/** How long a connection takes at most to be closed after a statement heard that it is. */
const CLOSING_MS = 1_000;

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Looks like a pending query of postgres.js to drizzle: awaited for objects, or asked for `values()`. */
function statement(
  client: Client,
  text: string,
  parameters: postgres.ParameterOrJSON<never>[],
  line: Line | null,
  { hook, silence }: Guard,
) {
  const send = () => client.unsafe(text, parameters, { prepare: true });
  const run = async (values: boolean): Promise<unknown[]> => {
    if (hook !== undefined) await hook(text);
    if (line?.lost === true) throw new LineLost();
    const once = async (): Promise<unknown[]> => dense(await (values ? send().values() : send()));
    return silence.during(() => overCuts(once, () => line === null && isRead(text)));
  };
  return {
    values: () => run(true),
    // oxlint-disable-next-line unicorn/no-thenable -- drizzle awaits what `unsafe` returns, as it would the driver's own
    then: <A, B>(resolve?: (rows: unknown[]) => A, reject?: (error: unknown) => B) =>
      run(false).then(resolve, reject),
  };
}

/**
 * How often what may be sent again is. Twice: postgres.js 3.4.9 answers the first query on a new connection with the last
 * word of the old one, where the server had one.
 */
const CUTS = 2;

/** Tries again after a connection was cut, as long as `mayRepeat`. */
async function overCuts<T>(send: () => Promise<T>, mayRepeat: () => boolean): Promise<T> {
  for (let cuts = 0; ; cuts += 1) {
    try {
      return await send();
    } catch (error) {
      if (cuts === CUTS || !wasCut(error) || !mayRepeat()) throw error;
    }
  }
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
  'ENETUNREACH',
  'ENOENT',
  '53300',
  '57P02',
  '57P03',
];

/** A statement of a transaction whose connection has ended. It was not sent. */
class LineLost extends Error {
  override name = 'LineLost';
  readonly code = 'CONNECTION_CLOSED';
  constructor() {
    super('The connection of this transaction is lost.');
  }
}

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
