/** Detects that the client has disconnected. */
import type { FastifyReply } from 'fastify';

/** Aborts when the connection closes, or when another response (503) was sent. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  return closed.signal;
}
