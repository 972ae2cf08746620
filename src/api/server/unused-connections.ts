/**
 * Tracks connections without any request yet: browsers and HTTP clients open some in advance. A closing server would
 * wait for them until the header timeout; this closes them at once.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Call the returned function when the server starts to close. */
export function trackUnused(server: Server): () => void {
  const unused = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket) => {
    if (closing) return void socket.destroy();
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return () => {
    closing = true;
    for (const socket of unused) socket.destroy();
  };
}
