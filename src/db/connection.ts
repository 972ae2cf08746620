/**
 * One connection with one life: once it was cut, or anything odd happened on it, it is lost and never used again.
 *
 * Below it is a client of postgres.js 3.4.9 that may open one connection. What that driver does after a cut is not relied
 * on: it may leave a statement unanswered for ever, give it the answer of another one, or connect again without an end.
 * So its socket is opened once, nothing is asked once that was heard to fail, and whatever is under way on a lost line is
 * rejected here, whether or not the driver does so too.
 */
import postgres from 'postgres';
import { decodeJson } from './codec.ts';
import { ConnectionSocket } from './connection-socket.ts';

export type ConnectionOptions = {
  readonly url: string;
  /** The PostgreSQL schema of the tables: statements name none. */
  readonly schema: string;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** For so long a line may say nothing to a statement, in milliseconds. */
  readonly silentMs: number;
  /** Which of several hosts the next line is opened to; the next one after a line could not be opened. */
  readonly turn: { host: number };
  readonly limits: SessionLimits;
};

/**
 * Time limits that PostgreSQL enforces on a session, in milliseconds; 0: no limit. They free the locks of a frozen process,
 * whose connections stay open although it reads nothing.
 */
export type SessionLimits = {
  /** A transaction whose next statement does not come: the connection is ended. */
  idleInTransaction: number;
  /** What the server has to say is not read: the connection is ended. */
  unread: number;
  /** A lock that does not become free: the statement fails. */
  lock: number;
};

export type Parameters = postgres.ParameterOrJSON<never>[];

/** Where postgres.js wants to be connected to: one of several hosts, or a socket of the file system. */
type Place = { host: string[]; port: number[]; path?: string | false | null };

/** Looks in one silence. Counted, not timed: a process that was itself stopped has not listened. */
export const LOOKS = 4;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: postgres.Sql;
  readonly #host: number;
  #socket: ConnectionSocket | null = null;
  #lost: Error | null = null;
  #received = false;
  /** Each rejects a statement under way. */
  readonly #underWay = new Set<(error: Error) => void>();
  /** Bytes read as of the last look, and the looks since there were fewer. */
  #read = 0;
  #looks = 0;

  /** Opens nothing yet: the first statement does. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#host = options.turn.host;
    this.#client = connect(options, (place) => this.#open(place));
  }

  /** Why this line must not be used any more, or null. */
  get lost(): Error | null {
    return this.#lost;
  }

  /**
   * Statements that are asked at once share a round trip and are answered in their order. The rows are objects; with
   * `values`, lists in the order of the columns. Rejects with Postgres' error; after any other, of a connection or of the
   * driver, the line is lost.
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
        else
          this.lose(error instanceof Error ? error : new ConnectionLost('CONNECTION_CLOSED', String(error)));
      },
    );
    return promise;
  }

  /** One look of the pool's clock: what was left alone for too many of them is given up, and the line with it. */
  look(): void {
    if (this.#underWay.size === 0) return;
    const read = this.#socket?.bytesRead ?? 0;
    this.#looks = read === this.#read ? this.#looks + 1 : 0;
    this.#read = read;
    if (this.#looks > LOOKS) this.lose(new Silence(this.#options.silentMs));
  }

  /** Ends it at once. What is under way, and what is asked from now on, is rejected. */
  lose(reason: Error): void {
    this.#lost ??= reason;
    for (const reject of this.#underWay) reject(this.#lost);
    this.#underWay.clear();
    if (!this.#received && this.#options.turn.host === this.#host) this.#options.turn.host += 1;
    this.#socket?.abandon();
    void this.#client.end({ timeout: 0 }).catch(() => undefined);
  }

  /** Takes leave of the server, while nothing is asked. Resolves when the connection is closed. */
  async end(): Promise<void> {
    this.#lost ??= new ConnectionLost('CONNECTION_ENDED', 'This connection was ended.');
    await this.#client.end().catch(() => undefined);
  }

  #answered(reject: (error: Error) => void): void {
    this.#underWay.delete(reject);
    this.#received = true;
  }

  /** What the driver takes as its socket. It asks for another one when it means to connect again. */
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
    // The driver's own word for it, where it has one, says more, and comes first.
    setImmediate(() => this.lose(reason));
  }
}

function connect(options: ConnectionOptions, socket: (place: Place) => ConnectionSocket): postgres.Sql {
  // The driver takes this one too, though its types do not say so.
  const unlisted = { socket };
  return postgres(options.url, {
    max: 1,
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: 10,
    // Else each new connection asks for the types of arrays, unheard: one that is cut then rejects into the void. The price:
    // statements give lists as jsonb.
    fetch_types: false,
    connection: {
      search_path: options.schema,
      application_name: options.name,
      idle_in_transaction_session_timeout: options.limits.idleInTransaction,
      tcp_user_timeout: options.limits.unread,
      lock_timeout: options.limits.lock,
    },
    onnotice: () => undefined,
    ...unlisted,
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      json: { to: 114, from: [114], parse: decodeJson, serialize: asItIs },
      jsonb: { to: 3802, from: [3802], parse: decodeJson, serialize: asItIs },
      date: { to: 1184, from: [1082, 1114, 1184], parse: asItIs, serialize: asItIs },
    },
  });
}

function asItIs(text: string): string {
  return text;
}

/** Whether Postgres refused the statement and is ready for the next one. Its graver errors end the connection. */
function isOrderly(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.severity === 'ERROR';
}

/** The rows without the holes that a statement which failed in the middle of its result leaves before the next one's. */
export function dense<T>(rows: T[]): T[] {
  return rows.length > 0 && !(0 in rows) ? rows.filter(() => true) : rows;
}

/** Of a statement that was not answered, or not even sent, since there is no connection for it. */
export class ConnectionLost extends Error {
  override name = 'LineLost';
  readonly code: 'CONNECTION_CLOSED' | 'CONNECTION_ENDED' | 'CONNECTION_DESTROYED';
  constructor(code: ConnectionLost['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

function cutOff(cause: Error | null): ConnectionLost {
  return new ConnectionLost('CONNECTION_CLOSED', 'The connection is lost: nothing more is sent on it.', {
    cause,
  });
}

/** Bears the code of a connection that was cut: that is what it comes to. */
class Silence extends Error {
  override name = 'Silence';
  readonly code = 'ECONNRESET';
  constructor(silentMs: number) {
    super(`The database did not answer within ${silentMs} ms: its connection was given up.`);
  }
}
