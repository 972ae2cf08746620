/** Errors of the driver and of PostgreSQL, by their codes. */

/** A lock was not available in time. */
export const LOCKED = '55P03';

/** PostgreSQL ended a session whose transaction waited for its next statement for too long: it is rolled back. */
export const IDLE_TOO_LONG = '25P03';

/** Codes of a lost connection: the server may have run what was sent without answering. */
const CUT = [
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  '57P01',
  IDLE_TOO_LONG,
];

/** Codes of a server that cannot be reached, has no free connection, or is starting or stopping. */
const AWAY = [
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  '53300',
  '57P02',
  '57P03',
];

/** Whether the connection was lost. */
export function wasCut(error: unknown): boolean {
  return CUT.includes(errorCode(error));
}

/** Whether PostgreSQL is unavailable for now, so that a later retry can succeed. */
export function isUnavailable(error: unknown): boolean {
  return wasCut(error) || AWAY.includes(errorCode(error));
}

/** A statement was cancelled because it exceeded its time limit. */
export const CANCELLED = '57014';

/** The error code from the driver or PostgreSQL, unwrapped from drizzle's error; empty if there is none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return errorCode(error.cause);
}
