/**
 * The table of all error codes. `CODES` are returned over HTTP with the given status; `JOB_CODES` appear on a job and
 * on its worker's `last_failure`.
 */
export const CODES = {
  not_found: 404,
  invalid_request: 422,
  unsupported: 422,
  unknown_model: 422,
  unknown_tool: 422,
  unknown_role: 422,
  unauthorized: 401,
  forbidden: 403,
  tenant_suspended: 403,
  tenant_exists: 409,
  payload_too_large: 413,
  version_conflict: 412,
  idempotency_conflict: 422,
  context_busy: 409,
  worker_stopped: 409,
  not_queued: 409,
  not_waiting: 409,
  process_ended: 409,
  process_draining: 409,
  process_not_drainable: 409,
  branch_exists: 409,
  worker_limit: 409,
  queue_full: 429,
  quota_exceeded: 429,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
} as const;

export type Code = keyof typeof CODES;

export const JOB_CODES = [
  'empty_context',
  'nothing_to_answer',
  'provider_auth',
  'provider_refused',
  'provider_overloaded',
  'provider_rate_limited',
  'provider_bad_request',
  'prompt_too_long',
  'provider_unreachable',
  'stream_interrupted',
  'not_allowed',
  'crash_loop',
  'output_invalid',
  'max_steps',
  'deadline',
  'internal',
] as const;

export type JobCode = (typeof JOB_CODES)[number];

/** Why a job failed, with a message for a person. */
export type JobError = { code: JobCode; message: string };

/** One fault of a request. `path`: of the value in the body, `config.tools.0`; empty: the body itself. */
export type RequestFault = { path: string; code: Code; message: string };

/**
 * A request that cannot be served. Commands return it as a value; the HTTP layer turns it into a problem response.
 * `faults`: all that is wrong with an invalid request; the other members are those of the first.
 */
export type Refusal = {
  kind: 'refused';
  code: Code;
  message: string;
  param?: string;
  /** When to try again; missing: the default of the code. */
  retryAfterS?: number;
  faults?: readonly RequestFault[];
};

export function refuse(code: Code, message: string, param?: string): Refusal {
  return param === undefined ? { kind: 'refused', code, message } : { kind: 'refused', code, message, param };
}

/** Faults that the message of a refusal names; the others are in its list alone. */
const SHOWN_FAULTS = 3;

/** `more`: faults that are not in the list. Null: there is no fault. */
export function refuseAll(faults: readonly RequestFault[], more = 0): Refusal | null {
  const [first] = faults;
  if (first === undefined) return null;
  const shownMessages = faults.slice(0, SHOWN_FAULTS).map(({ message }) => message);
  const left = faults.length + more - shownMessages.length;
  const rest =
    left === 0 ? [] : [`And ${left} more: error.errors lists ${more === 0 ? 'all' : `the first ${faults.length}`}.`];
  const message = [...shownMessages, ...rest].join(' ');
  return { ...refuse(first.code, message, first.path === '' ? undefined : first.path), faults };
}

/** This run no longer owns its context. It stops without an error; another run continues. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
