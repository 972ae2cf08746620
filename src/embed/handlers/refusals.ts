/** Answers that an embedded API gives without its application. */
import { problemOf } from '../../api/response/problem.ts';
import { CODES, refuse, type Refusal } from '../../core/errors.ts';

export const NOT_UNDER_PATH = refuse('not_found', 'This path does not belong to Nightshift.');

export const STOPPED = refuse('unavailable', 'This instance of Nightshift was stopped. Create another one.');

export const BODY_READ = refuse(
  'internal',
  'Another part of the service read the body of the request before Nightshift got it. Mount Nightshift before parsers of bodies, such as express.json().',
);

type Answer = { status: number; headers: Record<string, string>; text: string };

/** None of them changes when the request is repeated. */
export function answerOf(refusal: Refusal): Answer {
  const status = CODES[refusal.code];
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-should-retry': 'false',
    },
    text: JSON.stringify(problemOf(refusal, status)),
  };
}

export function toResponse(refusal: Refusal): Response {
  const { text, ...answer } = answerOf(refusal);
  return new Response(text, answer);
}
