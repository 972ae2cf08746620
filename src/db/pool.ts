/**
 * Lines for who needs one, each for one piece of work at a time. The one that came back last is lent first, so that a pool
 * of one keeps to its connection, and its session, until that is cut; whoever has to wait is served in the order of coming,
 * or told that the database is away: by then nobody waits for the answer any more.
 * A lost line leaves an empty place, where another one is opened when somebody needs it.
 */
import { Connection, ConnectionLost, LOOKS } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';

/** Another line in place of one that was lost; null: it was not, or there are no more. */
export type Renew = () => Connection | null;

type Waiting = { resolve: (connection: Connection) => void; reject: (error: Error) => void; looks: number };

export class Pool {
  readonly #max: number;
  readonly #options: ConnectionOptions;
  /** All lines, lent or idle; who waits does so because there are `max` and none is idle. */
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #clock: NodeJS.Timeout;
  readonly #emptied = Promise.withResolvers<void>();
  #closing: Promise<void> | null = null;

  constructor(max: number, options: ConnectionOptions) {
    this.#max = max;
    this.#options = options;
    this.#clock = setInterval(() => {
      for (const connection of this.#connections) connection.look();
      this.#look();
    }, options.silentMs / LOOKS).unref();
  }

  /**
   * Does `work` on a line. `renew` gives another one for it where it was lost, or null once the pool is closed. Rejects
   * with the work's error, or with CONNECTION_ENDED after the pool was closed.
   */
  async use<T>(work: (connection: Connection, renew: Renew) => Promise<T>): Promise<T> {
    let connection = this.#take() ?? (await this.#wait());
    const renew = (): Connection | null => {
      if (this.#closing !== null || connection.lost === null) return null;
      this.#connections.delete(connection);
      connection = this.#open();
      return connection;
    };
    try {
      return await work(connection, renew);
    } finally {
      this.#give(connection);
    }
  }

  /** What is under way, and who waits already, has `seconds`; then all is ended. */
  close(seconds: number): Promise<void> {
    this.#closing ??= this.#close(seconds);
    return this.#closing;
  }

  async #close(seconds: number): Promise<void> {
    this.#partFromIdle();
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, seconds * 1_000);
    await Promise.race([this.#emptied.promise, timeout.promise]);
    clearTimeout(timer);
    clearInterval(this.#clock);
    const destroyed = new ConnectionLost('CONNECTION_DESTROYED', 'The database was closed meanwhile.');
    for (const { reject } of this.#waiting.splice(0)) reject(destroyed);
    for (const connection of this.#connections) connection.lose(destroyed);
  }

  /** A line that is free at once, or null. */
  #take(): Connection | null {
    if (this.#closing !== null) throw new ConnectionLost('CONNECTION_ENDED', 'The database was closed.');
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.lost === null) return connection;
      this.#connections.delete(connection);
    }
    return this.#connections.size < this.#max ? this.#open() : null;
  }

  #wait(): Promise<Connection> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject, looks: 0 }));
  }

  /** Who came first has waited longest. */
  #look(): void {
    for (const waiting of this.#waiting) waiting.looks += 1;
    while ((this.#waiting[0]?.looks ?? 0) > LOOKS) this.#waiting.shift()?.reject(new NoneFree());
  }

  #open(): Connection {
    const connection = new Connection(this.#options);
    this.#connections.add(connection);
    return connection;
  }

  #give(connection: Connection): void {
    if (connection.lost !== null) this.#connections.delete(connection);
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve(connection.lost === null ? connection : this.#open());
    else if (connection.lost === null) this.#idle.push(connection);
    if (this.#closing !== null) this.#partFromIdle();
  }

  #partFromIdle(): void {
    for (const connection of this.#idle.splice(0)) {
      void connection.end().finally(() => {
        this.#connections.delete(connection);
        this.#partFromIdle();
      });
    }
    if (this.#connections.size === 0) this.#emptied.resolve();
  }
}

/** All lines were busy for as long as one of them may be silent. */
class NoneFree extends Error {
  override name = 'NoneFree';
  readonly code = 'CONNECT_TIMEOUT';
  constructor() {
    super('No connection to the database became free in time.');
  }
}
