/**
 * One transaction of a tool, on one connection. The function that settles the call is sent together with the commit, as the
 * last statements, so that the row of the context stays locked only while PostgreSQL carries both out. (For the first call
 * of a connection, and for a long result, the driver sends the commit after the answer to the function.) Nothing is
 * committed before they are sent.
 */
import { randomInt } from 'node:crypto';
import type { SqlParameter, ToolTransaction, TransactionResult } from '../../core/tools/transaction.ts';
import type { RunningCall } from '../calls/tool-steps.ts';
import type { Connection } from '../connection/connection.ts';
import { errorCode } from '../connection/database-errors.ts';
import { toText } from '../connection/plain-values.ts';
import { TRANSACTIONS, settledText } from './settlements.ts';

/** How long the first and the last statements may take, in milliseconds. Then the connection is closed. */
const ANSWER_MS = 15_000;

/** A frozen process keeps the locks of its tool for at most this long, in milliseconds. */
const MOST_PAUSE_MS = 60_000;

/** Even if a tool has set other defaults for its session. */
const START = 'begin isolation level read committed read write not deferrable';

/**
 * The connection may have served the call of another tenant: nothing that a tool has set stays. Within the transaction,
 * since a pooler may give each statement outside of one another session.
 */
const RESET = [
  'close all',
  'reset session authorization',
  'reset role',
  'reset all',
  'discard temp',
  'discard sequences',
];

/** A lock of the session would be held while its connection waits for the next call. */
const UNLOCK = 'select pg_advisory_unlock_all()';

const HIGHEST_INT = 2 ** 31 - 1;

/** The limits hold for the transaction only. On Windows, PostgreSQL cannot check the connection, and accepts only 0. */
const BEGIN = `select set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true),
  set_config('client_connection_check_interval',
    case when version() ~* '(visual c|mingw)' then '0' else '500' end, true),
  pg_advisory_xact_lock(${TRANSACTIONS}, $3::int),
  (extract(epoch from transaction_timestamp()) * 1000000)::bigint::text as began`;

export class ToolSession {
  /** The advisory lock that it holds until it has ended. */
  readonly lock = randomInt(HIGHEST_INT);
  readonly tx: ToolTransaction;
  readonly #connection: Connection;
  readonly #settle: string;
  #began: string | null = null;
  #isOver = false;
  /** The code of the first statement that failed. */
  #failed: string | null = null;
  /** The last statements were sent: they may commit. */
  #isClosing = false;

  /** `schema`: of the tables of Nightshift. */
  constructor(connection: Connection, schema: string) {
    this.#connection = connection;
    this.#settle = `select "${schema}".nightshift_settle_v1($1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::bigint, $6::text)`;
    this.tx = this.#toolTransaction();
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get failed(): string | null {
    return this.#failed;
  }

  async begin(limitMs: number): Promise<void> {
    const pauseMs = Math.min(limitMs, MOST_PAUSE_MS);
    const limits = [String(Math.ceil(limitMs)), String(Math.ceil(pauseMs)), String(this.lock)];
    // In one round trip.
    const statements = [START, ...RESET, UNLOCK].map((text) => this.#connection.ask(text));
    const begun = this.#connection.ask(BEGIN, limits);
    await this.#inTime(Promise.all([...statements, begun]));
    this.#began = textIn((await begun)[0], 'began');
  }

  /** Resolves when it is committed. */
  async settle({ toolCallId, contextId, owner, epoch }: RunningCall, result: TransactionResult): Promise<void> {
    this.#isOver = true;
    // What PostgreSQL would check and run at the commit, it does now, while no row of Nightshift is locked.
    await this.#connection.ask('set constraints all immediate');
    const { lost } = this.#connection;
    if (lost !== null) throw lost;
    const parameters = [toolCallId, contextId, owner, String(epoch), this.#began, settledText(result)];
    this.#isClosing = true;
    const [settled, committed] = await this.#inTime(
      Promise.allSettled([
        this.#connection.ask(this.#settle, parameters),
        this.#connection.ask('commit'),
        this.#connection.ask(UNLOCK),
      ]),
    );
    for (const one of [settled, committed]) if (one.status === 'rejected') throw one.reason;
  }

  /** Never rejects. */
  async rollBack(): Promise<void> {
    this.#isOver = true;
    if (this.#connection.lost !== null) return;
    const over = Promise.all([this.#connection.ask('rollback'), this.#connection.ask(UNLOCK)]);
    await this.#inTime(over).catch((error: unknown) => {
      this.#connection.lose(error instanceof Error ? error : new Error(String(error)));
    });
  }

  /** The tool does not run meanwhile: only PostgreSQL is waited for. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#connection.lose(new NoAnswer()), ANSWER_MS);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  #toolTransaction(): ToolTransaction {
    const ask = (text: string, parameters: readonly SqlParameter[], values: boolean): Promise<{ rows: unknown[] }> => {
      const answer = this.#ask(text, parameters, values);
      // A statement that no code awaits must not end the process.
      answer.catch(() => undefined);
      return answer;
    };
    function query<Row extends object>(text: string, parameters?: readonly SqlParameter[]): Promise<{ rows: Row[] }>;
    function query(text: string, parameters: readonly SqlParameter[] = []): Promise<{ rows: unknown[] }> {
      return ask(text, parameters, false);
    }
    function values(text: string, parameters?: readonly SqlParameter[]): Promise<{ rows: unknown[][] }>;
    function values(text: string, parameters: readonly SqlParameter[] = []): Promise<{ rows: unknown[] }> {
      return ask(text, parameters, true);
    }
    return { query, values };
  }

  async #ask(text: string, parameters: readonly SqlParameter[], values: boolean): Promise<{ rows: unknown[] }> {
    if (this.#isOver) throw new Error('The transaction of the call has ended: await each statement before you return.');
    if (typeof text !== 'string') throw new TypeError('A statement is a text of SQL.');
    const given = parameters.map((one) => toText(one));
    try {
      return { rows: await this.#connection.ask(text, given, values) };
    } catch (error) {
      this.#failed ??= errorCode(error);
      throw error;
    }
  }
}

function textIn(row: unknown, name: string): string {
  const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined;
  if (typeof value !== 'string') throw new Error('A transaction of a tool began with no time.');
  return value;
}

/** Has the code of a cut connection, because it is handled like one: a commit in doubt is read, the rest runs again. */
class NoAnswer extends Error {
  override name = 'NoAnswer';
  readonly code = 'ECONNRESET';

  constructor() {
    super(
      `PostgreSQL did not answer a begin, a commit or a rollback within ${ANSWER_MS} ms. The connection was closed.`,
    );
  }
}
