/**
 * Connections on which nothing was asked yet: browsers and HTTP clients open some in advance. A server that closes would wait
 * for them until its time for headers is over; here they are hung up at once.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Call what it gives when the server is about to close. */
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
