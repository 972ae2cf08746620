/**
 * One database connection. After a cut or any unexpected error it is lost, and is never used again.
 *
 * It uses a client of postgres.js 3.4.9 that may open one connection. That driver is unreliable after a cut: it may
 * never answer a statement, answer it with the result of another one, or reconnect endlessly. So this class opens the
 * socket once, sends nothing after a known failure, and itself rejects every running statement of a lost connection,
 * whether or not the driver does so too.
 */
import postgres from 'postgres';
import { decodeJson } from './codec.ts';
import { ConnectionSocket } from './connection-socket.ts';
import { PLAIN_VALUES } from './plain-values.ts';

export type ConnectionOptions = {
  readonly url: string;
  /** The PostgreSQL schema of the tables. Statements do not name it. Null: what the login has. */
  readonly schema: string | null;
  /** How values are sent and read. `plain`: as text, for statements of tools (plain-values.ts). */
  readonly values: 'own' | 'plain';
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** How long a running statement may receive no data, in milliseconds. */
  readonly silentMs: number;
  /** Which of several hosts the next connection uses. It advances when a connection could not be opened. */
  readonly turn: { host: number };
  readonly limits: SessionLimits;
};

/**
 * Time limits that PostgreSQL enforces on a session, in milliseconds; 0: no limit. They free the locks of a frozen
 * process, whose connections stay open although it reads nothing.
 */
export type SessionLimits = {
  /** A transaction waits for its next statement: PostgreSQL closes the connection. */
  idleInTransaction: number;
  /** The client does not acknowledge data from the server: PostgreSQL closes the connection. */
  unread: number;
  /** A lock is not available: the statement fails. */
  lock: number;
};

export type Parameters = postgres.ParameterOrJSON<never>[];

/** Where postgres.js wants to connect to: one of several hosts, or a Unix socket. */
type Place = { host: string[]; port: number[]; path?: string | false | null };

/**
 * Checks per silence timeout. Checks are counted instead of measuring time, because a process that was itself stopped
 * could not read.
 */
export const LOOKS = 4;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: postgres.Sql;
  readonly #host: number;
  #socket: ConnectionSocket | null = null;
  #lost: Error | null = null;
  #received = false;
  /** The reject functions of the running statements. */
  readonly #underWay = new Set<(error: Error) => void>();
  /** Bytes read at the last check, and the number of checks in a row without new bytes. */
  #read = 0;
  #looks = 0;

  /** Does not connect yet; the first statement does. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#host = options.turn.host;
    this.#client = connect(options, (place) => this.#open(place));
  }

  /** Why this connection must not be used any more, or null. */
  get lost(): Error | null {
    return this.#lost;
  }

  /**
   * Statements sent at the same time share a round trip and are answered in order. Rows are objects, or with `values`
   * arrays in column order. Rejects with PostgreSQL's error; after an error of the connection or the driver, the
   * connection is lost.
   */
  async ask(text: string, parameters: Parameters = [], values = false): Promise<unknown[]> {
    if (this.#lost !== null) throw cutOff(this.#lost);
    const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
    if (this.#underWay.size === 0) this.#looks = 0;
    this.#underWay.add(reject);
    const query = this.#client.unsafe(text, parameters, { prepare: true });
    const rows: Promise<unknown[]> = values ? query.values() : query;
    rows.then(
      (answer) => {
        this.#answered(reject);
        resolve(dense(answer));
      },
      (error: unknown) => {
        reject(error);
        if (isOrderly(error)) this.#answered(reject);
        else this.lose(error instanceof Error ? error : new ConnectionLost('CONNECTION_CLOSED', String(error)));
      },
    );
    return promise;
  }

  /**
   * Called by the pool's timer. If no data arrived during too many checks, rejects the running statements and loses the
   * connection.
   */
  look(): void {
    if (this.#underWay.size === 0) return;
    const read = this.#socket?.bytesRead ?? 0;
    this.#looks = read === this.#read ? this.#looks + 1 : 0;
    this.#read = read;
    if (this.#looks > LOOKS) this.lose(new Silence(this.#options.silentMs));
  }

  /** Closes the connection at once. Rejects the running statements and all later ones. */
  lose(reason: Error): void {
    this.#lost ??= reason;
    for (const reject of this.#underWay) reject(this.#lost);
    this.#underWay.clear();
    if (!this.#received && this.#options.turn.host === this.#host) this.#options.turn.host += 1;
    this.#socket?.abandon();
    void this.#client.end({ timeout: 0 }).catch(() => undefined);
  }

  /** Ends the session with the server while no statement is running. Resolves when the connection is closed. */
  async end(): Promise<void> {
    this.#lost ??= new ConnectionLost('CONNECTION_ENDED', 'The connection was ended.');
    await this.#client.end().catch(() => undefined);
  }

  #answered(reject: (error: Error) => void): void {
    this.#underWay.delete(reject);
    this.#received = true;
  }

  /** Creates the driver's socket. The driver asks for a second socket when it tries to reconnect; that is refused. */
  #open({ host, port, path }: Place): ConnectionSocket {
    if (this.#lost !== null || this.#socket !== null) throw cutOff(this.#lost);
    const at = this.#host % host.length;
    const name = host[at] ?? 'localhost';
    const socket = new ConnectionSocket(name, (error) => this.#closed(error));
    this.#socket = socket;
    return typeof path === 'string' ? socket.connect(path) : socket.connect(port[at] ?? 5432, name);
  }

  #closed(error: Error | null): void {
    const reason = error ?? new ConnectionLost('CONNECTION_CLOSED', 'The connection was closed.');
    this.#lost ??= reason;
    // If the driver reports its own error, that error has more detail and comes first.
    setImmediate(() => this.lose(reason));
  }
}

/** With what each connection starts. */
export function startParameters({ schema, name, limits }: Pick<ConnectionOptions, 'schema' | 'name' | 'limits'>) {
  return {
    ...(schema !== null && { search_path: schema }),
    application_name: name,
    idle_in_transaction_session_timeout: limits.idleInTransaction,
    tcp_user_timeout: limits.unread,
    lock_timeout: limits.lock,
  };
}

function connect(options: ConnectionOptions, socket: (place: Place) => ConnectionSocket): postgres.Sql {
  // postgres.js accepts this option, but its types do not include it.
  const unlisted = { socket };
  return postgres(options.url, {
    max: 1,
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: 10,
    // Otherwise each new connection queries the array types, and a cut during that query causes an unhandled rejection.
    // Because of this, statements pass lists as jsonb.
    fetch_types: false,
    connection: startParameters(options),
    onnotice: () => undefined,
    ...unlisted,
    types: options.values === 'own' ? OWN_VALUES : PLAIN_VALUES,
  });
}

const OWN_VALUES = {
  bigint: { to: 20, from: [20], parse: Number, serialize: String },
  json: { to: 114, from: [114], parse: decodeJson, serialize: asItIs },
  jsonb: { to: 3802, from: [3802], parse: decodeJson, serialize: asItIs },
  date: { to: 1184, from: [1082, 1114, 1184], parse: asItIs, serialize: asItIs },
};

function asItIs(text: string): string {
  return text;
}

/** Whether PostgreSQL rejected only the statement. Errors of a higher severity end the connection. */
function isOrderly(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.severity === 'ERROR';
}

/**
 * Removes the holes that postgres.js leaves in a result after an earlier statement failed in the middle of its own
 * result.
 */
export function dense<T>(rows: T[]): T[] {
  return rows.length > 0 && !(0 in rows) ? rows.filter(() => true) : rows;
}

/** A statement was not answered, or not sent, because there is no connection for it. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
  readonly code: 'CONNECTION_CLOSED' | 'CONNECTION_ENDED' | 'CONNECTION_DESTROYED';
  constructor(code: ConnectionLost['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

function cutOff(cause: Error | null): ConnectionLost {
  return new ConnectionLost('CONNECTION_CLOSED', 'The connection is lost. The statement was not sent.', {
    cause,
  });
}

/** Has the code of a cut connection, because it is handled like one. */
class Silence extends Error {
  override name = 'Silence';
  readonly code = 'ECONNRESET';
  constructor(silentMs: number) {
    super(`PostgreSQL did not answer within ${silentMs} ms. The connection was closed.`);
  }
}
