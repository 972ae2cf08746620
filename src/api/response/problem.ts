/** Turns refusals into HTTP responses: problem details (RFC 9457), status and headers. */
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import { isRetryable } from '../../core/access/quotas.ts';
import { CODES, refuse, type Code, type Refusal } from '../../core/errors.ts';
import type { Problem } from '../schemas/problem.ts';

/** Carries a refusal to the error handler. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function refused(...refusal: Parameters<typeof refuse>): RequestRefused {
  return new RequestRefused(refuse(...refusal));
}

export function invalid(message: string, param?: string): RequestRefused {
  return refused('invalid_request', message, param);
}

const TITLES: Readonly<Record<Code, string>> = {
  not_found: 'Not found',
  invalid_request: 'Invalid request',
  unsupported: 'Not supported yet',
  unknown_model: 'Unknown model',
  unknown_tool: 'Unknown tool',
  unknown_role: 'Unknown role',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  tenant_suspended: 'Tenant suspended',
  tenant_exists: 'Tenant exists',
  payload_too_large: 'Payload too large',
  version_conflict: 'Version conflict',
  idempotency_conflict: 'Idempotency conflict',
  context_busy: 'Context busy',
  worker_stopped: 'Worker stopped',
  not_waiting: 'No longer waiting for an answer',
  process_ended: 'The worker process has ended',
  process_draining: 'The worker process is draining',
  process_not_drainable: 'The worker process cannot be drained by a request',
  not_queued: 'Not queued',
  branch_exists: 'Branch exists',
  worker_limit: 'Too many workers',
  queue_full: 'Queue full',
  quota_exceeded: 'Quota exceeded',
  rate_limited: 'Rate limited',
  unavailable: 'Unavailable',
  internal: 'Internal error',
};

/** Seconds after which the client should retry. */
const RETRY_AFTER: Partial<Record<Code, number>> = {
  queue_full: 5,
  quota_exceeded: 5,
  rate_limited: 5,
  unavailable: 1,
};

/** `status` overrides the status of the code, for example with 415. */
export function sendProblem(reply: FastifyReply, refusal: Refusal, status: number = CODES[refusal.code]): FastifyReply {
  const retryAfter = refusal.retryAfterS ?? RETRY_AFTER[refusal.code];
  const isFinal = refusal.code === 'quota_exceeded' && !isRetryable(refusal.param ?? '');
  if (status === 409 || isFinal) reply.header('x-should-retry', 'false');
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="nightshift"');
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/problem+json')
    .send(JSON.stringify(problemOf(refusal, status)));
}

export function problemOf({ code, message, param, faults }: Refusal, status: number): Static<typeof Problem> {
  const errors = faults === undefined ? {} : { errors: [...faults] };
  return {
    type: `urn:nightshift:problem:${code}`,
    title: TITLES[code],
    status,
    detail: message,
    error: { type: vendorType(status), code, message, param: param ?? null, ...errors },
  };
}

/** The error type that the SDKs of vendors use for this status. */
function vendorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 500:
      return 'api_error';
    case 503:
      return 'overloaded_error';
    default:
      return 'invalid_request_error';
  }
}

/** Returns the value, or refuses the request with 404. */
export function orNotFound<T>(found: T | null, what: string): T {
  if (found === null) throw refused('not_found', what);
  return found;
}

/** Returns the outcome of a command, or refuses the request. */
export function orRefuse<T extends { kind: 'done' }>(outcome: T | Refusal): T {
  if (outcome.kind === 'refused') throw new RequestRefused(outcome);
  return outcome;
}
