/** Holds the current connection and the calls that wait for the next one. */
import type { Connection } from './connection.ts';

export class CurrentConnection {
  #connection: Connection | null = null;
  readonly #waiting = new Set<(connection: Connection) => void>();

  get connection(): Connection | null {
    return this.#connection?.isOver === false ? this.#connection : null;
  }

  set(connection: Connection): void {
    this.#connection = connection;
    for (const resolve of this.#waiting) resolve(connection);
  }

  clear(): void {
    this.#connection = null;
  }

  /** Null: no connection in time. Rejects when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<Connection | null> {
    signal.throwIfAborted();
    const { connection } = this;
    if (connection !== null) return connection;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(found);
        settle();
      };
      const found = (one: Connection): void => end(() => resolve(one));
      const abort = (): void => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => resolve(null)), ms);
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(found);
    });
  }
}
