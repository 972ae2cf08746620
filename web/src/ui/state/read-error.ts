/** Reads a thrown value. Errors of the API client have a code, a request id and the faults of an invalid request. */
import { uiWords } from '../../words.ts';
export type ReadError = {
  /** Names at most three faults. */
  message: string;
  code: string;
  requestId: string | null;
  /** All faults of a request that has several; otherwise empty. */
  faults: readonly string[];
};

const SHOWN_FAULTS = 3;

export function readError(error: unknown): ReadError {
  if (!(error instanceof Error)) return { message: String(error), code: 'fault', requestId: null, faults: [] };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'fault';
  const requestId = 'requestId' in error && typeof error.requestId === 'string' ? error.requestId : null;
  const faults = faultsOf(error);
  const message = faults.length === 0 ? error.message : summary(faults);
  return { message, code, requestId, faults: faults.length > 1 ? faults : [] };
}

/** Equal sentences about several fields are shown once. */
function faultsOf(error: Error): readonly string[] {
  if (!('errors' in error) || !Array.isArray(error.errors)) return [];
  return [...new Set(error.errors.map(({ message }: { message: string }) => message))];
}

/** Replaces the message of the API, which refers to the list in its response. */
function summary(faults: readonly string[]): string {
  const rest = faults.length > SHOWN_FAULTS ? [uiWords.errors.more] : [];
  return [...faults.slice(0, SHOWN_FAULTS), ...rest].join(' ');
}
