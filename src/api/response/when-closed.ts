import { setMaxListeners } from 'node:events';
import type { FastifyReply } from 'fastify';

/**
 * Calls `end` once: when the response has been sent or its client has left, at once if that is so already. A response
 * that waits for others on its connection does not close with it, so the connection counts too.
 */
export function whenClosed({ raw, request }: FastifyReply, end: () => void): void {
  const { socket } = request.raw;
  if (raw.destroyed || raw.writableFinished || socket.destroyed) return end();
  const over = (): void => {
    raw.off('close', over);
    socket.off('close', over);
    end();
  };
  raw.once('close', over);
  // A client may send many requests on a connection before the first is answered.
  setMaxListeners(0, socket);
  socket.once('close', over);
}
