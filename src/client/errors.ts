/** Errors of the client, identified by `code`: codes of the API, and codes of the transport. */
import type { Problem } from './schema.ts';

/** Error codes of the API. */
export type ApiCode = Problem['error']['code'];

/**
 * `unreachable`: no complete response. `timed_out`: no response in time. `unexpected_answer`: the response is not from
 * the API, but for example from a proxy.
 */
export type ErrorCode = ApiCode | 'unreachable' | 'timed_out' | 'unexpected_answer';

/** One fault of a request: the path of the wrong field, and a sentence about it. */
export type RequestFault = NonNullable<Problem['error']['errors']>[number];

/** A request failed. `code` says why, `status` what the API answered. */
export class NightshiftError extends Error {
  /** The name of the class, also where several copies of the package are loaded. */
  override name = 'NightshiftError';
  /** What went wrong: a code of the API, or of the transport. */
  readonly code: ErrorCode;
  /** HTTP status; null: no response. */
  readonly status: number | null;
  /** The field of the request that is wrong, if any. */
  readonly param: string | null;
  /** All faults of an invalid request, at most 20; otherwise empty. */
  readonly errors: readonly RequestFault[];
  /** Request id in the log of the API; null: the response had none. */
  readonly requestId: string | null;

  constructor(
    code: ErrorCode,
    message: string,
    { status = null, param = null, errors = [], requestId = null, cause }: Details = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.param = param;
    this.errors = errors;
    this.requestId = requestId;
  }
}

type Details = {
  status?: number | null;
  param?: string | null;
  errors?: readonly RequestFault[];
  requestId?: string | null;
  cause?: unknown;
};

/** Reads an error response. */
export async function toError(response: Response): Promise<NightshiftError> {
  const { status } = response;
  const requestId = response.headers.get('x-request-id');
  const text = await response.text().catch(() => '');
  const problem = parseProblem(text);
  if (problem === null) {
    const message = `The server answered ${status} without a problem of the Nightshift API. Check the URL and any proxy. Response: ${text.slice(0, 200)}`;
    return new NightshiftError('unexpected_answer', message, { status, requestId });
  }
  const { code, message, param, errors = [] } = problem.error;
  return new NightshiftError(code, message, { status, param, errors, requestId });
}

function parseProblem(text: string): Problem | null {
  try {
    const problem: Partial<Problem> | null = JSON.parse(text);
    return typeof problem?.error?.code === 'string' ? (problem as Problem) : null;
  } catch {
    return null;
  }
}
