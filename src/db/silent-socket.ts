/**
 * Connections that notice silence. A network may swallow a connection without a word to either side; what was asked on it
 * would then wait for as long as the kernel goes on repeating itself, a quarter of an hour, and its place in the pool with
 * it. Here it fails like any connection that is cut, and the pool opens another one.
 *
 * Only counters are looked at, so that it holds below TLS as well.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Where postgres.js wants to be connected to: one of several hosts, or a socket of the file system. */
type Place = { host: string[]; port: number[]; path?: string | false | null };

/** Looks in one silence. Counted, not timed: a process that was itself stopped has not listened. */
const LOOKS = 4;

/** What postgres.js takes as its `socket`: hosts are taken in turn, as it does itself. */
export function silenceNoticing(silentMs: number): (place: Place) => Socket {
  let tried = 0;
  return ({ host, port, path }) => {
    const at = tried % host.length;
    tried += 1;
    const socket = typeof path === 'string' ? connect(path) : connect(port[at] ?? 5432, host[at]);
    watch(socket, silentMs);
    return socket;
  };
}

/** Cuts the connection when `silentMs` have passed since something was asked, and not a byte came. */
function watch(socket: Socket, silentMs: number): void {
  let read = 0;
  let asked = 0;
  let silent = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    if (socket.bytesRead !== read || socket.bytesWritten === asked) {
      read = socket.bytesRead;
      asked = socket.bytesWritten;
      silent = 0;
      return;
    }
    silent += 1;
    if (silent >= LOOKS) socket.destroy(new Silence(silentMs));
  }, silentMs / LOOKS).unref();
}

/** Bears the code of a connection that was cut: that is what it comes to. */
class Silence extends Error {
  override name = 'Silence';
  readonly code = 'ECONNRESET';
  constructor(silentMs: number) {
    super(`The database did not answer within ${silentMs} ms: its connection was given up.`);
  }
}
