/**
 * A transaction on one connection. It starts with its first statement, in the same round trip. If the connection turns
 * out to be cut then, both are sent again on another connection, because nothing was committed. Statements are answered
 * in order.
 *
 * It may end with its last statement, in the same round trip. If that statement fails, PostgreSQL treats the commit as
 * a rollback. After its connection is lost, or after it has ended, nothing more is sent, because that would run outside
 * the transaction.
 */
import type { Connection, Parameters as StatementParameters } from './connection.ts';
import { TENANT_SETTING } from './tenant-setting.ts';

/** Only for the transaction. */
const NAME_TENANT = `select set_config('${TENANT_SETTING}', $1, true)`;

/** Another connection after this failure; null: the failure is final. */
type Renew = (error: unknown) => Connection | null;

export class Transaction {
  readonly #renew: Renew;
  readonly #tenant: string | null;
  readonly #failures: unknown[] = [];
  #connection: Connection;
  #first: Promise<unknown[]> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #ended = false;
  /** The commit that was sent with the last statement. */
  #closing: Promise<unknown> | null = null;

  /** `tenant`: the value of its setting, sent with its start; null: no setting. */
  constructor(connection: Connection, renew: Renew, tenant: string | null) {
    this.#connection = connection;
    this.#renew = renew;
    this.#tenant = tenant;
  }

  async ask(text: string, parameters: StatementParameters, values: boolean): Promise<unknown[]> {
    if (this.#ended) throw new Error('A statement was sent after its transaction had ended.');
    const answer =
      this.#first === null ? this.#begin(text, parameters, values) : this.#connection.ask(text, parameters, values);
    this.#first ??= answer;
    this.#last = answer.catch((error: unknown) => this.#failures.push(error));
    return answer;
  }

  /** Sends the last statement. Answered once the transaction is committed, in the same round trip. */
  async askLast(text: string, parameters: StatementParameters, values: boolean): Promise<unknown[]> {
    const begins = this.#first === null;
    const answer = this.ask(text, parameters, values);
    // The first statement may have to be sent again, so the commit must not be sent before its answer.
    if (begins) await answer;
    this.#ended = true;
    this.#closing = this.#connection.ask('commit');
    const [rows] = await Promise.all([answer, this.#closing]);
    return rows;
  }

  /**
   * Rejects if a statement failed, even if `work` ignored the error: PostgreSQL would roll back without reporting it.
   */
  async commit(): Promise<void> {
    this.#ended = true;
    await this.#last;
    if (this.#failures.length > 0) throw this.#failures[0];
    if (this.#first !== null) await (this.#closing ?? this.#connection.ask('commit'));
  }

  /** Called when the caller stops waiting. Closes the connection, so that the server stops the statement. */
  giveUp(): void {
    this.#ended = true;
    this.#connection.lose(new GivenUp());
  }

  /** Whether its last statement was sent: it can no longer be rolled back. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Rejects with the connection's error if the connection is lost, because that error may have caused the failure. */
  async rollback(): Promise<void> {
    this.#ended = true;
    if (this.#connection.lost !== null) throw this.#connection.lost;
    if (this.#first === null) return;
    try {
      await (this.#closing ?? this.#connection.ask('rollback'));
    } catch (error) {
      if (error instanceof Error) this.#connection.lose(error);
      throw error;
    }
  }

  async #begin(text: string, parameters: StatementParameters, values: boolean): Promise<unknown[]> {
    try {
      return await begun(this.#connection, this.#tenant, [text, parameters, values]);
    } catch (error) {
      const other = this.#renew(error);
      if (other === null) throw error;
      this.#connection = other;
      return begun(other, this.#tenant, [text, parameters, values]);
    }
  }
}

/** The transaction was aborted by its signal. */
export class GivenUp extends Error {
  override name = 'GivenUp';
  constructor() {
    super('The database transaction was aborted by its caller.');
  }
}

/** Starts a transaction with its first statement, in one round trip. */
export async function begun(
  connection: Connection,
  tenant: string | null,
  statement: Parameters<Connection['ask']>,
): Promise<unknown[]> {
  const started = [connection.ask('begin'), ...(tenant === null ? [] : [connection.ask(NAME_TENANT, [tenant])])];
  const [answer] = await Promise.all([connection.ask(...statement), ...started]);
  return answer;
}
