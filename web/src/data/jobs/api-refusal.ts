/** Reads errors of the API client by their members. Pure. */

const REQUEST_TIMEOUT = 408;

/** Whether the API, or a proxy, definitely did not do what was asked. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error) || typeof error.status !== 'number') return false;
  return error.status >= 400 && error.status < 500 && error.status !== REQUEST_TIMEOUT;
}

/** Null: it is not an error of the API client. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
