/** Classifies a request that returned no result. */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { causesOf, codeOf } from '../../run/fault.ts';

/**
 * `refused`: the server returned an error. `silent`: the timeout expired. `not_sent`: the server did not receive the
 * request. `cut`: the connection ended, and it is unknown how far the server came.
 */
type RequestFailure = 'refused' | 'silent' | 'not_sent' | 'cut';

/** Codes of errors that the client itself creates. */
const CLOSED: number = ErrorCode.ConnectionClosed;
const TIMED_OUT: number = ErrorCode.RequestTimeout;

/** Codes of failed connection attempts. */
const UNREACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** `isOver`: whether the connection has ended. Needed because servers may use the same codes as the client. */
export function classifyFailure(error: unknown, isOver: boolean): RequestFailure {
  if (error instanceof McpError) {
    if (isOver && error.code === CLOSED) return 'cut';
    return isTimeOut(error) ? 'silent' : 'refused';
  }
  if (error instanceof StreamableHTTPError) return ofStatus(error.code);
  return causesOf(error).some((cause) => UNREACHED.includes(codeOf(cause) ?? '')) ? 'not_sent' : 'cut';
}

/** The client's own timeout error. */
function isTimeOut({ code, data }: McpError): boolean {
  return code === TIMED_OUT && typeof data === 'object' && data !== null && 'timeout' in data;
}

/** 404: the session expired, and the request was not processed. Other 3xx and 4xx: the server refused the request. */
function ofStatus(status: number | undefined): RequestFailure {
  if (status === 404) return 'not_sent';
  return status !== undefined && status >= 300 && status < 500 ? 'refused' : 'cut';
}
