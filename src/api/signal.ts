/** Whether the client is still there. */
import type { FastifyReply } from 'fastify';

/** Aborted once nobody waits for the handler any more: the connection closed, or another answer went out (503). */
export function signalOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
