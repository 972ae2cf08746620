/** Error responses: RFC 9457 problem details, plus a member `error` as SDKs of vendors expect it. */
import { Type } from 'typebox';
import { CODES, type Code } from '../../core/errors.ts';
import { MOST_FAULTS } from '../../schema/fault.ts';
import { MOST_EXPLAINED } from '../../schema/validator.ts';
import { nullable, oneOf, ref, strict } from '../../schema/build.ts';

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
      errors: Type.Optional(
        Type.Array(strict({ path: Type.String(), code: oneOf(codes), message: Type.String() }), {
          description: `Of an invalid request: all that is wrong, at most ${MOST_FAULTS} entries; of a body with more than ${MOST_EXPLAINED} values only the first fault. \`path\` is written like \`param\`; empty: the whole body.`,
        }),
      ),
    }),
  },
  { $id: 'Problem' },
);

/** Statuses that a route declares. openapi.ts adds the statuses that follow from its parameters. */
type Named = 401 | 403 | 404 | 409 | 412 | 422 | 429;

/** The error responses of a route: `statuses`; openapi.ts adds the common ones (`impliedBy`). */
export function problems(...statuses: Named[]): Record<number, object> {
  return problemsOf(statuses);
}

export function problemsOf(statuses: readonly number[]): Record<number, object> {
  const answer = { content: { 'application/problem+json': { schema: ref(Problem) } } };
  return Object.fromEntries(statuses.map((status) => [status, answer]));
}
