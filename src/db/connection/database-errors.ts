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

/**
 * PgBouncer ends a connection so: it has lost that of the server, got none in time, or is stopping. It names no severity
 * in the field that programs read. From PostgreSQL the code with the severity ERROR means that a message was wrong.
 */
const PROTOCOL_VIOLATION = '08P01';

/** Whether the connection was lost. */
export function wasCut(error: unknown): boolean {
  const coded = codedError(error);
  if (coded === null) return false;
  return CUT.includes(coded.code) || (coded.code === PROTOCOL_VIOLATION && coded.severity !== 'ERROR');
}

/** Whether PostgreSQL is unavailable for now, so that a later retry can succeed. */
export function isUnavailable(error: unknown): boolean {
  return wasCut(error) || AWAY.includes(errorCode(error));
}

/** PostgreSQL refuses a value, two rows with one id, or what exceeds its limits. It would do so again. */
export function isOfData(error: unknown): boolean {
  return /^(2[23]|54)/.test(errorCode(error));
}

/** A statement was cancelled because it exceeded its time limit. */
export const CANCELLED = '57014';

/**
 * The server's text if it refuses the URL or a right: the password, the login, the database or the rights of the login
 * are wrong. Null: another error.
 */
export function refusalText(error: unknown): string | null {
  const coded = codedError(error);
  if (coded === null) return null;
  return coded.code.startsWith('28') || ['3D000', '42501'].includes(coded.code) ? coded.message : null;
}

/** The error code from the driver or PostgreSQL, unwrapped from drizzle's error; empty if there is none. */
export function errorCode(error: unknown): string {
  return codedError(error)?.code ?? '';
}

/** Code and text of an error of a server that cannot be reached; never a URL. */
export function errorText(error: unknown): string {
  const coded = codedError(error);
  if (coded === null) return 'unknown reason';
  return coded.code === PROTOCOL_VIOLATION ? `${coded.code}: ${coded.message}` : coded.code;
}

type CodedError = { code: string; message: string; severity: string | null };

function codedError(error: unknown): CodedError | null {
  if (!(error instanceof Error)) return null;
  if (!('code' in error) || typeof error.code !== 'string') return codedError(error.cause);
  const severity = 'severity' in error && typeof error.severity === 'string' ? error.severity : null;
  return { code: error.code, message: error.message, severity };
}
