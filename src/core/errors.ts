/**
 * The table of all error codes. `CODES` are returned over HTTP with
 * the given status; `JOB_CODES` appear on a job and on its worker's `last_failure`.
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
  payload_too_large: 413,
  version_conflict: 412,
  idempotency_conflict: 422,
  context_busy: 409,
  worker_stopped: 409,
  not_queued: 409,
  not_waiting: 409,
  branch_exists: 409,
  worker_limit: 409,
  queue_full: 429,
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
  'crash_loop',
  'max_steps',
  'deadline',
  'internal',
] as const;

export type JobCode = (typeof JOB_CODES)[number];

/** Why a job failed, with a message for a person. */
export type JobError = { code: JobCode; message: string };

export function isJobCode(text: string): text is JobCode {
  return (JOB_CODES as readonly string[]).includes(text);
}

/** A request that cannot be served. Commands return it as a value; the HTTP layer turns it into a problem response. */
export type Refusal = { kind: 'refused'; code: Code; message: string; param?: string };

export function refuse(code: Code, message: string, param?: string): Refusal {
  return param === undefined ? { kind: 'refused', code, message } : { kind: 'refused', code, message, param };
}

/** This run no longer owns its context. It stops without an error; another run continues. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
