/** Parsers of the parts of an import, by the schemas of the API. Error messages name the place in the body. */
import type { Static, TSchema } from 'typebox';
import { refuse } from '../../core/errors.ts';
import { RequestRefused } from '../response/problem.ts';
import { createValidator, explain } from '../request/validation.ts';

/** `at`: path of the value in the body, empty for the body itself. */
type Parse<Schema extends TSchema> = (value: unknown, at: string) => Static<Schema>;

/** Refuses values that do not match the schema. */
export function parserOf<Schema extends TSchema>(schema: Schema): Parse<Schema> {
  const check = createValidator()({ schema, httpPart: 'body', method: 'POST', url: '/api/contexts/import' });
  return (value, at) => {
    if (check(value)) return value as Static<Schema>;
    throw new RequestRefused(explain(check.errors ?? [], 'body', at));
  };
}

export function wrong(
  at: string,
  message: string,
  code: 'invalid_request' | 'unsupported' | Parameters<typeof refuse>[0] = 'invalid_request',
): RequestRefused {
  return new RequestRefused(at === '' ? refuse(code, message) : refuse(code, message, at));
}
