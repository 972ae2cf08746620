/** Turns every error of a request into a refusal. An unexpected error reveals no details to the client. */
import type { FastifyError } from 'fastify';
import { CODES, refuse, type Refusal } from '../../core/errors.ts';
import { isAway } from '../../db/batches/database-timeout.ts';
import { CANCELLED, errorCode } from '../../db/connection/database-errors.ts';
import { InvalidJson } from '../request/body.ts';
import { OutOfTime } from '../server/deadline.ts';
import { RequestRefused } from './problem.ts';

/** `expected`: a known kind of failure, not a bug. */
type Failure = { refusal: Refusal; status: number; expected: boolean };

/** SQLSTATEs of transactions that conflicted, were cancelled, or ran out of resources: nothing was written. */
const TRANSIENT = ['40001', '40P01', '55P03', CANCELLED, '53100', '53200', '53400'];

/** SQLSTATEs for a schema, table, column, type or function that differs from this version. */
const OTHER_SCHEMA = ['3F000', '42P01', '42703', '42704', '42804', '42883'];
const SCHEMA =
  'The database schema does not match this version. Run `nightshift migrate`. GET /readyz names the missing migrations.';

/** `bodyLimit`: limit of the route in bytes. */
export function toFailure(error: unknown, bodyLimit: number): Failure {
  if (error instanceof RequestRefused) return expected(error.refusal);
  if (error instanceof InvalidJson) return expected(refuse('invalid_request', error.message), 400);
  if (error instanceof OutOfTime || isAway(error) || TRANSIENT.includes(errorCode(error))) {
    return expected(refuse('unavailable', 'The database does not answer. Try again.'));
  }
  if (OTHER_SCHEMA.includes(errorCode(error))) return expected(refuse('unavailable', SCHEMA));
  if (isFastifyError(error)) return ofFramework(error, bodyLimit);
  return unforeseen();
}

function ofFramework(error: FastifyError, bodyLimit: number): Failure {
  switch (error.statusCode) {
    case 413:
      return expected(
        refuse('payload_too_large', `The body is larger than ${bodyLimit / 1024} KB, the limit of this route.`),
      );
    case 415:
      return expected(
        refuse('invalid_request', 'The content type of the body is not supported. Send application/json.'),
        415,
      );
    case 414:
      return expected(refuse('not_found', 'The path of the request is too long.'));
    case 400:
      return expected(refuse('invalid_request', 'The request is not valid HTTP.'), 400);
    case undefined:
    default:
      return unforeseen();
  }
}

function expected(refusal: Refusal, status: number = CODES[refusal.code]): Failure {
  return { refusal, status, expected: true };
}

function unforeseen(): Failure {
  return {
    refusal: refuse(
      'internal',
      'An unexpected error occurred in the API. Its log has the details under the x-request-id of this response.',
    ),
    status: CODES.internal,
    expected: false,
  };
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}
