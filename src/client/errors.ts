/** What goes wrong, told apart by `code`: the codes of the API, and those of the way to it. */
import type { Problem } from './schema.ts';

/** Codes of problems that the API answers with. */
export type ApiCode = Problem['error']['code'];

/**
 * `unreachable`: no answer came, or none to the end. `timed_out`: not in time. `unexpected_answer`: something that is not
 * the API answered, such as a proxy.
 */
export type ErrorCode = ApiCode | 'unreachable' | 'timed_out' | 'unexpected_answer';

export class NightshiftError extends Error {
  override name = 'NightshiftError';
  readonly code: ErrorCode;
  /** Of HTTP; null: there was no answer. */
  readonly status: number | null;
  /** The member of the request that is at fault, where one is. */
  readonly param: string | null;
  /** To be found in the log of the API; null: it said none. */
  readonly requestId: string | null;

  constructor(
    code: ErrorCode,
    message: string,
    { status = null, param = null, requestId = null, cause }: Details = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.param = param;
    this.requestId = requestId;
  }
}

type Details = {
  status?: number | null;
  param?: string | null;
  requestId?: string | null;
  cause?: unknown;
};

/** Reads an answer that is no success. */
export async function toError(response: Response): Promise<NightshiftError> {
  const { status } = response;
  const requestId = response.headers.get('x-request-id');
  const text = await response.text().catch(() => '');
  const problem = parseProblem(text);
  if (problem === null) {
    const message = `The answer was ${status}, and no problem of the API: ${text.slice(0, 200)}`;
    return new NightshiftError('unexpected_answer', message, { status, requestId });
  }
  const { code, message, param } = problem.error;
  return new NightshiftError(code, message, { status, param, requestId });
}

function parseProblem(text: string): Problem | null {
  try {
    const problem: Partial<Problem> | null = JSON.parse(text);
    return typeof problem?.error?.code === 'string' ? (problem as Problem) : null;
  } catch {
    return null;
  }
}
