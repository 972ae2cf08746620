/**
 * A connection pool. Each connection does one piece of work at a time. The connection returned last is used first, so
 * that a pool of one keeps its connection, and its session, until it is cut. Waiters are served in order of arrival. A
 * waiter that gets no connection in time is rejected as if the database were unavailable. A lost connection frees its
 * slot; the next request that needs one opens a new connection.
 */
import { Connection, ConnectionLost, LOOKS, type ConnectionOptions } from './connection.ts';

/** Opens a connection to replace a lost one; null: the current one is not lost, or the pool is closed. */
type Renew = () => Connection | null;

type Waiting = { resolve: (connection: Connection) => void; reject: (error: Error) => void; looks: number };

export class Pool {
  readonly #max: number;
  readonly #options: ConnectionOptions;
  /** All connections, in use or idle. Requests wait only when there are `max` and none is idle. */
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
   * Runs `work` with a connection. `renew` replaces the connection if it was lost, or returns null once the pool is
   * closed. Rejects with the error of `work`, or with CONNECTION_ENDED after the pool was closed.
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

  /** Running and waiting work has `seconds` to finish; then all connections are closed. */
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
    const destroyed = new ConnectionLost('CONNECTION_DESTROYED', 'The database pool closed before this finished.');
    for (const { reject } of this.#waiting.splice(0)) reject(destroyed);
    for (const connection of this.#connections) connection.lose(destroyed);
  }

  /** A connection that is free now, or null. */
  #take(): Connection | null {
    if (this.#closing !== null) throw new ConnectionLost('CONNECTION_ENDED', 'The database pool is closed.');
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.lost === null) return connection;
      this.#connections.delete(connection);
    }
    return this.#connections.size < this.#max ? this.#open() : null;
  }

  #wait(): Promise<Connection> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject, looks: 0 }));
  }

  /** Rejects waiters that timed out. The first waiter has waited longest. */
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

/** All connections were in use for longer than the silence timeout. */
class NoneFree extends Error {
  override name = 'NoneFree';
  readonly code = 'CONNECT_TIMEOUT';
  constructor() {
    super('No database connection became free in time. If this repeats, raise NIGHTSHIFT_DATABASE_POOL_SIZE.');
  }
}
