/**
 * A call that works in a transaction, which also stores its result: the effect and the result are committed together, so
 * the call happens exactly once.
 */
import type { ResultPart } from '../conversation/blocks.ts';

/** A value of `$1`: a list becomes an array of PostgreSQL, any other object JSON. */
export type SqlParameter = string | number | bigint | boolean | Date | Uint8Array | object | null;

/**
 * The transaction of a call, in the database of Nightshift under the login of `NIGHTSHIFT_TOOLS_DATABASE_URL`. It is
 * committed after `execute` has returned, and rolled back if `execute` throws. Both functions run one statement, in which
 * `$1` is the first parameter, and reject with the error of PostgreSQL (`code`: its SQLSTATE).
 *
 * Numbers of up to 32 bits, floats, booleans and JSON are JavaScript values. Everything else is the text that PostgreSQL
 * writes: `bigint`, `numeric`, dates, arrays.
 */
export type ToolTransaction = {
  /** Each row is an object with a member for each column. `Row` is what you expect of it: it is not checked. */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    parameters?: readonly SqlParameter[],
  ): Promise<{
    /** The rows, by the names of their columns. */
    rows: Row[];
  }>;
  /** Each row is a list of values, as query builders read it. */
  values(
    text: string,
    parameters?: readonly SqlParameter[],
  ): Promise<{
    /** The rows, each with its values in the order of the columns. */
    rows: unknown[][];
  }>;
};

/** Stored with the effect of the call. */
export type TransactionResult = { content: string | ResultPart[]; compact_summary?: string };

/** `limitMs`: how long the transaction may wait for the tool, and each statement may take. */
export type TransactionLimits = { signal: AbortSignal; limitMs: number };

export type CallTransaction = {
  /**
   * Runs `work` in a transaction, stores what it returns as the result of the call, and commits. Returns the stored result:
   * another execution may have been first. Null: nothing is committed, because the signal was aborted, or the call must
   * not go on (see `CallSteps`). Rejects with the error of `work`, or with `TransactionRefused`: then nothing is committed
   * either. `work` runs again if PostgreSQL was unavailable or ended the transaction because of another one.
   */
  run(
    work: (tx: ToolTransaction) => Promise<TransactionResult>,
    limits: TransactionLimits,
  ): Promise<TransactionResult | null>;
};

/**
 * `not_granted`: the login may not settle calls of this tenant. `transaction_ended`: the tool has ended the transaction
 * itself, so what it wrote before that stays. `unavailable`: this process or test has no transactions.
 */
export type RefusedTransaction = 'not_granted' | 'transaction_ended' | 'unavailable';

/** The message is for the model and the operator. */
export class TransactionRefused extends Error {
  override name = 'TransactionRefused';
  readonly code: RefusedTransaction;

  constructor(code: RefusedTransaction, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
