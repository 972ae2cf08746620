/** Reads a thrown value. Errors of the API client have a code and a request id. */
export type ReadError = { message: string; code: string; requestId: string | null };

export function readError(error: unknown): ReadError {
  if (!(error instanceof Error)) return { message: String(error), code: 'fault', requestId: null };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'fault';
  const requestId = 'requestId' in error && typeof error.requestId === 'string' ? error.requestId : null;
  return { message: error.message, code, requestId };
}
