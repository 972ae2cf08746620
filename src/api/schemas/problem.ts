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

/** What any route may answer instead. */
export const problems = {
  '4xx': {
    description: 'The request cannot be served as it is.',
    content: { 'application/problem+json': { schema: ref(Problem) } },
  },
  '5xx': {
    description: 'The platform cannot serve it now.',
    content: { 'application/problem+json': { schema: ref(Problem) } },
  },
} as const;
