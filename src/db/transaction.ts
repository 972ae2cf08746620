/**
 * A transaction on a line of its own. It begins with its first statement, in the same round trip; where the line turns out
 * to be cut then, both are sent again on another one: nothing was committed. Its statements are answered in their order.
 * It may end with its last statement, in the same round trip: where that one fails, Postgres takes the commit for a rollback.
 * Once its line is lost, or it has ended, nothing more of it is sent: that would run outside of it.
 */
import type { Connection, Parameters } from './connection.ts';

/** Another line in place of one that failed so; null: the failure stands. */
export type Renew = (error: unknown) => Connection | null;

export class Transaction {
  readonly #renew: Renew;
  readonly #failures: unknown[] = [];
  #connection: Connection;
  #first: Promise<unknown[]> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #ended = false;
  /** The commit that was sent with the last statement. */
  #closing: Promise<unknown> | null = null;

  constructor(connection: Connection, renew: Renew) {
    this.#connection = connection;
    this.#renew = renew;
  }

  async ask(text: string, parameters: Parameters, values: boolean): Promise<unknown[]> {
    if (this.#ended) throw new Error('A statement came after its transaction had ended.');
    const answer =
      this.#first === null
        ? this.#begin(text, parameters, values)
        : this.#connection.ask(text, parameters, values);
    this.#first ??= answer;
    this.#last = answer.catch((error: unknown) => this.#failures.push(error));
    return answer;
  }

  /** Its last statement. Answered once the transaction is committed, in the same round trip. */
  async askLast(text: string, parameters: Parameters, values: boolean): Promise<unknown[]> {
    const begins = this.#first === null;
    const answer = this.ask(text, parameters, values);
    // A beginning may have to be sent again: nothing may be behind it.
    if (begins) await answer;
    this.#ended = true;
    this.#closing = this.#connection.ask('commit');
    const [rows] = await Promise.all([answer, this.#closing]);
    return rows;
  }

  /** Rejects where a statement failed, though the work may have passed over it: Postgres would roll back without a word. */
  async commit(): Promise<void> {
    this.#ended = true;
    await this.#last;
    if (this.#failures.length > 0) throw this.#failures[0];
    if (this.#first !== null) await (this.#closing ?? this.#connection.ask('commit'));
  }

  /** Nobody waits for it any more: its line is closed under it, and the server ends what it was doing. */
  giveUp(): void {
    this.#ended = true;
    this.#connection.lose(new GivenUp());
  }

  /** Whether its last statement was sent: it can no longer be rolled back. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Rejects where the line is lost: with the reason, for it may be that of all else. */
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

  async #begin(text: string, parameters: Parameters, values: boolean): Promise<unknown[]> {
    try {
      return await begun(this.#connection, text, parameters, values);
    } catch (error) {
      const other = this.#renew(error);
      if (other === null) throw error;
      this.#connection = other;
      return begun(other, text, parameters, values);
    }
  }
}

/** Of a transaction that nobody waits for any more. */
export class GivenUp extends Error {
  override name = 'GivenUp';
  constructor() {
    super('Nobody waits for this any more.');
  }
}

async function begun(
  connection: Connection,
  text: string,
  parameters: Parameters,
  values: boolean,
): Promise<unknown[]> {
  const [, answer] = await Promise.all([connection.ask('begin'), connection.ask(text, parameters, values)]);
  return answer;
}
