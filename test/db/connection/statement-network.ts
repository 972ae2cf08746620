// A network between the driver and Postgres that understands statements: it reports whether one is running, and can
// rewrite the text of one, so that a test can break it. A driver sends the text of a statement once on each connection.
import { connect } from 'node:net';
import { startServer } from './faulty-network.ts';

/** The text to be sent instead; null: the original text. */
export type Rewrite = (text: string) => string | null;

export type StatementNetwork = {
  /** Of Postgres, through this network. */
  readonly url: string;
  /** Called when the driver has sent a request, and when it was answered. */
  onChange: () => void;
  /** How many requests the driver has sent. */
  asked(): number;
  /** Whether a request is unanswered. */
  isBusy(): boolean;
  /** Whether a transaction is open, as of the last answer. */
  inTransaction(): boolean;
  close(): Promise<void>;
};

export async function startStatementNetwork(url: string, rewrite: Rewrite = () => null): Promise<StatementNetwork> {
  const target = new URL(url);
  const connections = new Set<Connection>();
  let asked = 0;
  const server = await startServer(url, (near) => {
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    const connection = new Connection(rewrite);
    connections.add(connection);
    near.setNoDelay();
    near.on('data', (piece: Buffer) => {
      far.write(connection.ask(piece));
      asked += 1;
      network.onChange();
    });
    near.on('close', () => {
      connections.delete(connection);
      far.destroy();
    });
    far.on('data', (piece: Buffer) => {
      near.write(piece);
      if (connection.answer(piece)) network.onChange();
    });
    far.on('error', () => undefined);
    far.on('close', () => near.destroy());
  });
  const network: StatementNetwork = {
    url: server.url,
    onChange: () => undefined,
    asked: () => asked,
    isBusy: () => [...connections].some(({ isBusy }) => isBusy),
    inTransaction: () => [...connections].some(({ inTransaction }) => inTransaction),
    close: () => server.close(),
  };
  return network;
}

// Message types.
const PARSE = 'P'.charCodeAt(0);
/** A statement without parameters. */
const QUERY = 'Q'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
/** The driver asks for the types of parameters before it sends them. */
const FLUSH = 'H'.charCodeAt(0);
const READY = 'Z'.charCodeAt(0);
/** Where the body begins after type and length: with the text, or with the name of a statement and then its text. */
const BODY = 5;
/** The status that the server sends when it is ready, outside of transactions. */
const NO_TRANSACTION = 'I'.charCodeAt(0);

class Connection {
  inTransaction = false;
  readonly #rewrite: Rewrite;
  /** The first message of a driver has no type. */
  readonly #asked = new Messages(0);
  readonly #answered = new Messages(1);
  #started = false;
  /** Each is answered when the server is ready again; so is the start of the connection. */
  #unanswered = 1;
  #flushed = false;

  constructor(rewrite: Rewrite) {
    this.#rewrite = rewrite;
  }

  get isBusy(): boolean {
    return this.#flushed || this.#unanswered > 0;
  }

  /** The bytes to be sent to the server. */
  ask(piece: Buffer): Buffer {
    const messages = this.#asked.take(piece).map((message) => {
      const kind = this.#started ? message[0] : null;
      this.#started = true;
      if (kind === SYNC || kind === QUERY) this.#unanswered += 1;
      if (kind === FLUSH || kind === SYNC) this.#flushed = kind === FLUSH;
      if (kind === PARSE) return this.#changed(message, message.indexOf(0, BODY) + 1);
      return kind === QUERY ? this.#changed(message, BODY) : message;
    });
    return Buffer.concat(messages);
  }

  /** Whether the server has become ready. */
  answer(piece: Buffer): boolean {
    const ready = this.#answered.take(piece).filter((message) => message[0] === READY);
    const status = ready.at(-1)?.[BODY];
    if (status === undefined) return false;
    this.#unanswered -= ready.length;
    this.inTransaction = status !== NO_TRANSACTION;
    return true;
  }

  /** The text begins at `from` and ends with a zero byte. */
  #changed(message: Buffer, from: number): Buffer {
    const to = message.indexOf(0, from);
    const text = this.#rewrite(message.toString('utf8', from, to));
    if (text === null) return message;
    const changed = Buffer.concat([message.subarray(0, from), Buffer.from(text), message.subarray(to)]);
    changed.writeInt32BE(changed.length - 1, 1);
    return changed;
  }
}

/**
 * Splits a byte stream into messages: each has its type, in one byte, and its length, which does not count that byte.
 */
class Messages {
  #rest: Buffer = Buffer.alloc(0);
  #kindLength: 0 | 1;

  constructor(kindLength: 0 | 1) {
    this.#kindLength = kindLength;
  }

  /** The messages that are complete with this piece. */
  take(piece: Buffer): Buffer[] {
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const messages: Buffer[] = [];
    let at = 0;
    for (let end = this.#endOf(data, at); end <= data.length; end = this.#endOf(data, at)) {
      messages.push(data.subarray(at, end));
      this.#kindLength = 1;
      at = end;
    }
    this.#rest = data.subarray(at);
    return messages;
  }

  /** The end of the message that begins `at`; beyond the data where not even its length has arrived. */
  #endOf(data: Buffer, at: number): number {
    const length = at + this.#kindLength;
    return length + 4 > data.length ? Infinity : length + data.readInt32BE(length);
  }
}
