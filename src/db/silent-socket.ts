/**
 * Connections that notice silence. A network may swallow a connection without a word to either side; what was asked on it
 * would then wait for as long as the kernel goes on repeating itself, a quarter of an hour, and its place in the pool with
 * it. Here it fails like any connection that is cut, and the pool opens another one.
 *
 * Nothing is cut unless something waits. Only counters are looked at, so that it holds below TLS as well.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Where postgres.js wants to be connected to: one of several hosts, or a socket of the file system. */
type Place = { host: string[]; port: number[]; path?: string | false | null };

/** Looks in one silence. Counted, not timed: a process that was itself stopped has not listened. */
const LOOKS = 4;

export class SilenceWatch {
  /** In looks: for how long nothing was heard on a connection, and for how long a piece of work has waited. */
  readonly #quiet = new Map<Socket, { read: number; looks: number }>();
  readonly #waiting = new Set<{ looks: number }>();
  readonly #silentMs: number;
  readonly #timer: NodeJS.Timeout;
  #tried = 0;

  constructor(silentMs: number) {
    this.#silentMs = silentMs;
    this.#timer = setInterval(() => this.#look(), silentMs / LOOKS).unref();
  }

  /** What postgres.js takes as its `socket`: hosts are taken in turn, as it does itself. */
  open({ host, port, path }: Place): Socket {
    const at = this.#tried % host.length;
    this.#tried += 1;
    const socket = typeof path === 'string' ? connect(path) : connect(port[at] ?? 5432, host[at]);
    this.#quiet.set(socket, { read: 0, looks: 0 });
    return socket;
  }

  /** Work that waits for answers. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const waiting = { looks: 0 };
    this.#waiting.add(waiting);
    try {
      return await work();
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const [socket, quiet] of this.#quiet) {
      if (socket.destroyed) this.#quiet.delete(socket);
      quiet.looks = socket.bytesRead === quiet.read ? quiet.looks + 1 : 0;
      quiet.read = socket.bytesRead;
    }
    for (const waiting of this.#waiting) waiting.looks += 1;
    if (![...this.#waiting].some(({ looks }) => looks > LOOKS)) return;
    for (const [socket, { looks }] of this.#quiet) {
      if (looks >= LOOKS) socket.destroy(new Silence(this.#silentMs));
    }
  }
}

/** Bears the code of a connection that was cut: that is what it comes to. */
class Silence extends Error {
  override name = 'Silence';
  readonly code = 'ECONNRESET';
  constructor(silentMs: number) {
    super(`The database did not answer within ${silentMs} ms: its connection was given up.`);
  }
}
