/**
 * A transaction on a line of its own. Its statements are answered in their order. Once its line is lost, or it has ended,
 * nothing more of it is sent: that would run outside of it.
 */
import type { Line, Parameters } from './line.ts';

export class Transaction {
  readonly #line: Line;
  readonly #failures: unknown[] = [];
  #ended = false;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(line: Line) {
    this.#line = line;
  }

  static async begin(line: Line): Promise<Transaction> {
    await line.ask('begin');
    return new Transaction(line);
  }

  async ask(text: string, parameters: Parameters, values: boolean): Promise<unknown[]> {
    if (this.#ended) throw new Error('A statement came after its transaction had ended.');
    const answer = this.#line.ask(text, parameters, values);
    this.#last = answer.catch((error: unknown) => this.#failures.push(error));
    return answer;
  }

  /** Rejects where a statement failed, though the work may have passed over it: Postgres would roll back without a word. */
  async commit(): Promise<void> {
    this.#ended = true;
    await this.#last;
    if (this.#failures.length > 0) throw this.#failures[0];
    await this.#line.ask('commit');
  }

  /** Rejects where the line is lost: with the reason, for it may be that of all else. */
  async rollback(): Promise<void> {
    this.#ended = true;
    if (this.#line.lost !== null) throw this.#line.lost;
    try {
      await this.#line.ask('rollback');
    } catch (error) {
      if (error instanceof Error) this.#line.lose(error);
      throw error;
    }
  }
}
