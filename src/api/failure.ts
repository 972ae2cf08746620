/** Whatever a request ends with that is not its answer, as a refusal. What is not foreseen says nothing of itself. */
import type { FastifyError } from 'fastify';
import { CODES, refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { CANCELLED, errorCode, isUnavailable } from '../db/client.ts';
import { InvalidJson } from './body.ts';
import { OutOfTime } from './deadline.ts';
import { RequestRefused } from './problem.ts';
import { explain } from './validation.ts';

/** `expected`: nobody has to look into it. */
export type Failure = { refusal: Refusal; status: number; expected: boolean };

/** Codes of a transaction that met another one, or was cancelled: nothing of it was written. */
const TRANSIENT = ['40001', '40P01', '55P03', CANCELLED, '53100', '53200', '53400'];

/** A table, a column or a type is not as this version knows it. */
const OTHER_SCHEMA = ['3F000', '42P01', '42703', '42704', '42804', '42883'];
const SCHEMA =
  'The database has not the schema of this version: run `nightshift migrate`. GET /readyz names the missing migrations.';

/** `bodyLimit`: of the route, in bytes. */
export function toFailure(error: unknown, bodyLimit: number): Failure {
  if (error instanceof RequestRefused) return expected(error.refusal);
  if (error instanceof InvalidJson) return expected(refuse('invalid_request', error.message), 400);
  if (error instanceof OutOfTime || isUnavailable(error) || TRANSIENT.includes(errorCode(error))) {
    return expected(refuse('unavailable', 'The database does not answer. Try again.'));
  }
  if (OTHER_SCHEMA.includes(errorCode(error))) return expected(refuse('unavailable', SCHEMA));
  if (isFastifyError(error)) return ofFramework(error, bodyLimit);
  return unforeseen();
}

function ofFramework(error: FastifyError, bodyLimit: number): Failure {
  if (error.validation !== undefined && error.validationContext !== undefined) {
    return expected(explain(error.validation, error.validationContext));
  }
  switch (error.statusCode) {
    case 413:
      return expected(refuse('payload_too_large', `The body is larger than ${bodyLimit / 1024} KB.`));
    case 415:
      return expected(refuse('invalid_request', 'The body must be application/json.'), 415);
    case 414:
      return expected(refuse('not_found', 'There is nothing of this id.'));
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
    refusal: refuse('internal', 'Something went wrong here.'),
    status: CODES.internal,
    expected: false,
  };
}

function isFastifyError(error: unknown): error is FastifyError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('FST_')
  );
}
