/** Errors before there is a request: invalid HTTP, headers that are too large, a client that is too slow. */
import type { Duplex } from 'node:stream';
import { refuse } from '../../core/errors.ts';
import { http } from '../../node-http.ts';
import { problemOf } from '../response/problem.ts';

/** Answers if the connection is still writable, and closes it. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOf(error.code);
  const body = JSON.stringify(problemOf(refuse('invalid_request', MESSAGES[status]), status));
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const MESSAGES = {
  400: 'The request is not valid HTTP.',
  408: 'The request did not arrive in time. Send it again.',
  431: 'The headers of the request are too large. Send fewer or shorter headers.',
} as const;

function statusOf(code: string | undefined): keyof typeof MESSAGES {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408;
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
}
