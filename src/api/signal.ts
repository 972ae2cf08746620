/** Whether the client is still there. */
import type { FastifyReply } from 'fastify';

/** Aborted when the connection closes before the answer went out: nobody waits for it any more. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
