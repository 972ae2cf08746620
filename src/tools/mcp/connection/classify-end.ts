/** Classifies why a connection could not be made, or ended. */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { FailureReason, ServerFailure } from '../../../core/tools/server-failure.ts';
import { causesOf, codeOf } from '../../run/fault.ts';

const CLOSED: number = ErrorCode.ConnectionClosed;
const TIMED_OUT: number = ErrorCode.RequestTimeout;

/** By the codes of errors of Node and of its HTTP client. */
const BY_CODE: ReadonlyMap<string, FailureReason> = new Map([
  ['ECONNREFUSED', 'refused'],
  ['ENOTFOUND', 'host_not_found'],
  ['EAI_AGAIN', 'host_not_found'],
  ['EHOSTUNREACH', 'host_unreachable'],
  ['ENETUNREACH', 'host_unreachable'],
  ['ETIMEDOUT', 'timed_out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timed_out'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timed_out'],
  ['UND_ERR_BODY_TIMEOUT', 'timed_out'],
  ['ECONNRESET', 'lost'],
  ['EPIPE', 'lost'],
  ['UND_ERR_SOCKET', 'lost'],
]);

/** Codes of errors of TLS and of certificates. */
const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$)/;

/** By the codes of errors of a process that could not be started. */
const BY_SPAWN_CODE: ReadonlyMap<string, FailureReason> = new Map([
  ['ENOENT', 'command_not_found'],
  ['EACCES', 'command_not_executable'],
  ['EPERM', 'command_not_executable'],
  ['ENOEXEC', 'command_not_executable'],
  ['ENOTDIR', 'command_not_found'],
]);

/** Names of errors because of an answer that is not HTTP, not JSON, or not a message of the protocol. */
const UNREADABLE: ReadonlySet<string> = new Set(['HTTPParserError', 'SyntaxError', 'ZodError', '$ZodError']);

/** Of the client library, which has no class for it. */
const WRONG_VERSION = /^Server's protocol version is not supported/;

/**
 * `error`: of the request that failed, or undefined. `ofProcess`: what the process of the server did by itself, or null. A
 * process that ends while it is waited for says more than the request that it cut.
 */
export function classifyEnd(error: unknown, ofProcess: ServerFailure | null): ServerFailure {
  const reason = reasonOf(error);
  if (ofProcess !== null && (reason === 'lost' || reason === 'other')) return ofProcess;
  return { reason, code: error instanceof StreamableHTTPError ? statusOf(error) : null };
}

/** The reason why a process could not be started. */
export function classifySpawn(error: unknown): ServerFailure {
  return { reason: BY_SPAWN_CODE.get(codeOf(error) ?? '') ?? 'other', code: null };
}

function reasonOf(error: unknown): FailureReason {
  if (error === undefined) return 'lost';
  if (error instanceof McpError) return ofProtocol(error);
  if (error instanceof StreamableHTTPError) return ofStatus(statusOf(error));
  for (const cause of causesOf(error)) {
    const reason = ofCause(cause);
    if (reason !== undefined) return reason;
  }
  return 'other';
}

/** The server may use the codes of the client: then it has answered with an error. */
function ofProtocol({ code, data }: McpError): FailureReason {
  if (code === CLOSED) return 'lost';
  const isOwn = typeof data === 'object' && data !== null && ('timeout' in data || 'maxTotalTimeout' in data);
  return code === TIMED_OUT && isOwn ? 'timed_out' : 'protocol_error';
}

/** Null: an answer of another content type. */
function ofStatus(status: number | null): FailureReason {
  if (status === null) return 'protocol_error';
  return status === 401 || status === 403 ? 'unauthorized' : 'http_error';
}

function statusOf({ code }: StreamableHTTPError): number | null {
  return code !== undefined && code >= 100 && code <= 599 ? code : null;
}

function ofCause(cause: unknown): FailureReason | undefined {
  if (!(cause instanceof Error)) return undefined;
  const code = codeOf(cause) ?? '';
  const known = BY_CODE.get(code) ?? (TLS.test(code) ? 'tls_error' : undefined);
  if (known !== undefined) return known;
  return UNREADABLE.has(cause.name) || WRONG_VERSION.test(cause.message) ? 'protocol_error' : undefined;
}
