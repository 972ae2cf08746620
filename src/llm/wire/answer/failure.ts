/**
 * Classifies failures for all providers: by the error's code and type, the HTTP status, and the network error.
 * Retries are not decided here but in `core/retry.ts`.
 *
 * Specific codes take precedence over the status (an error event within a stream has none), and the status takes
 * precedence over generic codes.
 */
import type { FailureClass } from '../../../core/model/model.ts';

/** The known facts of a failure, in the same form for every provider. Empty: not known. */
export type FailureFacts = {
  status: number | null;
  type: string;
  code: string;
  message: string;
  /** From the system or the HTTP client: `ECONNRESET`, `UND_ERR_SOCKET`. */
  causeCode: string;
};

/**
 * Codes with a fixed meaning regardless of the status. An account without credit is treated like an invalid key: no
 * retry.
 */
const SPECIFIC: ReadonlyMap<string, FailureClass> = new Map(
  Object.entries<FailureClass>({
    context_length_exceeded: 'prompt_too_long',
    exceed_context_size_error: 'prompt_too_long',
    request_too_large: 'prompt_too_long',
    insufficient_quota: 'auth',
    billing_error: 'auth',
    billing_hard_limit_reached: 'auth',
    invalid_api_key: 'auth',
    authentication_error: 'auth',
    permission_error: 'auth',
    permission_denied: 'auth',
    rate_limit_error: 'rate_limited',
    rate_limit_exceeded: 'rate_limited',
    too_many_requests: 'rate_limited',
    overloaded_error: 'overloaded',
    server_is_overloaded: 'overloaded',
    engine_overloaded: 'overloaded',
    slow_down: 'overloaded',
    content_filter: 'refused',
    content_policy_violation: 'refused',
    image_content_policy_violation: 'refused',
    bio_policy: 'refused',
    misalignment_policy_violation: 'refused',
    invalid_prompt: 'refused',
    model_not_found: 'bad_request',
  }),
);

/** Codes that only tell whether client or server is at fault: used if there is no status. */
const GENERIC: ReadonlyMap<string, FailureClass> = new Map(
  Object.entries<FailureClass>({
    api_error: 'server_error',
    server_error: 'server_error',
    internal_server_error: 'server_error',
    timeout_error: 'server_error',
    vector_store_timeout: 'server_error',
    not_found_error: 'bad_request',
    invalid_request_error: 'bad_request',
  }),
);

const TOO_LONG = [
  /prompt is too long/i,
  /(input|request|prompt) (is )?too (long|large)/i,
  /maximum context length/i,
  /exceeds? (the )?(model'?s |available |maximum )*context (window|length|size|limit)/i,
  /input length and `?max_tokens`? exceed/i,
];

const NO_MONEY = /credit balance is too low/i;

/** `received`: whether any part of an answer had arrived. */
export function classify(facts: FailureFacts, received: boolean): FailureClass {
  const specific = SPECIFIC.get(facts.code) ?? SPECIFIC.get(facts.type);
  if (facts.status === 413 || TOO_LONG.some((pattern) => pattern.test(facts.message))) return 'prompt_too_long';
  if (NO_MONEY.test(facts.message)) return 'auth';
  if (specific !== undefined) return specific;
  if (facts.status !== null) return byStatus(facts.status);
  const generic = GENERIC.get(facts.code) ?? GENERIC.get(facts.type);
  if (generic !== undefined) return generic;
  if (facts.causeCode !== '') return received ? 'stream_interrupted' : 'unreachable';
  return 'server_error';
}

function byStatus(status: number): FailureClass {
  switch (status) {
    case 401:
    case 402:
    case 403:
      return 'auth';
    case 429:
      return 'rate_limited';
    case 503:
    case 529:
      return 'overloaded';
    case 408:
    case 409:
    case 425:
      return 'server_error';
    default:
      return status >= 500 ? 'server_error' : 'bad_request';
  }
}

/** A message for a person; never parsed. */
export function failureText(facts: FailureFacts): string {
  const status = facts.status === null ? '' : String(facts.status);
  const what = [status, facts.type, facts.code, facts.causeCode].filter((part) => part !== '').join(' ');
  return [what, facts.message].filter((part) => part !== '').join(': ');
}
