/**
 * Why a connection to an MCP server could not be made, or ended. Only a class, never the text of an error: such a text may
 * contain addresses, headers and output of the server.
 */

export const FAILURE_REASONS = [
  'command_not_found',
  'command_not_executable',
  'exited',
  'refused',
  'host_not_found',
  'host_unreachable',
  'tls_error',
  'unauthorized',
  'http_error',
  'timed_out',
  'protocol_error',
  'lost',
  'other',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/**
 * `code`: of `exited` the exit code, or 128 and the number of the signal that ended the process; of `unauthorized` and
 * `http_error` the HTTP status. Null: unknown, or any other reason.
 */
export type ServerFailure = { reason: FailureReason; code: number | null };
