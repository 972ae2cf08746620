/** What became of a request that brought no result. */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

/**
 * `refused`: the server said why. `silent`: its time is up. `not_sent`: the server never got it. `cut`: the connection
 * ended, and nobody can say how far the server came.
 */
export type Fate = 'refused' | 'silent' | 'not_sent' | 'cut';

/** Of errors that the client makes itself. */
const CLOSED: number = ErrorCode.ConnectionClosed;
const TIMED_OUT: number = ErrorCode.RequestTimeout;

/** Of a connection that could not be made. */
const UNREACHED = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** `isOver`: whether the connection has ended: a server may use the codes of the client's own errors. */
export function fateOf(error: unknown, isOver: boolean): Fate {
  if (error instanceof McpError) {
    if (isOver && error.code === CLOSED) return 'cut';
    return isTimeOut(error) ? 'silent' : 'refused';
  }
  if (error instanceof StreamableHTTPError) return ofStatus(error.code);
  return codesOf(error).some((code) => UNREACHED.includes(code)) ? 'not_sent' : 'cut';
}

/** What the client itself says when its own timer went off. */
function isTimeOut({ code, data }: McpError): boolean {
  return code === TIMED_OUT && typeof data === 'object' && data !== null && 'timeout' in data;
}

/** 404: the session is gone, and the request with it. Of other refusals the server has read the request, and said no. */
function ofStatus(status: number | undefined): Fate {
  if (status === 404) return 'not_sent';
  return status !== undefined && status >= 300 && status < 500 ? 'refused' : 'cut';
}

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let next = error, depth = 0; next instanceof Error && depth < 4; next = next.cause, depth += 1) {
    if ('code' in next && typeof next.code === 'string') codes.push(next.code);
  }
  return codes;
}
