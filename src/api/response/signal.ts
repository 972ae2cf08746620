/** Detects that the client has disconnected. */
import type { FastifyReply } from 'fastify';

/** Created once: the signals of all requests abort, and a new error with its stack for each would cost more than they. */
const CLOSED = new DOMException('The response was sent, or the client disconnected.', 'AbortError');

/** Aborts when the connection closes, or when another response (503) was sent. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort(CLOSED));
  return closed.signal;
}
