/** Errors as they leave: RFC 9457, with a member `error` for SDKs that look for one. */
import { Type } from 'typebox';
import { CODES } from '../../core/errors.ts';
import type { Code } from '../../core/errors.ts';
import { nullable, oneOf, ref, strict } from './common.ts';

const codes = Object.keys(CODES) as Code[];

export const Problem = strict(
  {
    type: Type.String({ format: 'uri-reference' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String(),
    error: strict({
      type: Type.String(),
      code: oneOf(codes),
      message: Type.String(),
      param: nullable(Type.String()),
    }),
  },
  { $id: 'Problem' },
);

/** Statuses that an operation names by itself. Those that follow from what it takes are added to the document by rule. */
type Named = 401 | 403 | 404 | 409 | 412 | 422 | 429;

/** What a route may answer instead: `statuses`, and what every route may by `impliedBy` in openapi.ts. */
export function problems(...statuses: Named[]): Record<number, object> {
  return problemsOf(statuses);
}

export function problemsOf(statuses: readonly number[]): Record<number, object> {
  const answer = { content: { 'application/problem+json': { schema: ref(Problem) } } };
  return Object.fromEntries(statuses.map((status) => [status, answer]));
}
