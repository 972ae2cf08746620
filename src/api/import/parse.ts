/** Parsers of what an import is made of, by the schemas of the contract. What is wrong is named by its place in the body. */
import type { Static, TSchema } from 'typebox';
import { refuse } from '../../core/errors.ts';
import { RequestRefused } from '../problem.ts';
import { createValidator, explain } from '../validation.ts';

/** `at`: where the value stands in the body, empty for the body itself. */
export type Parse<Schema extends TSchema> = (value: unknown, at: string) => Static<Schema>;

/** Refuses what is not as the schema says. */
export function parserOf<Schema extends TSchema>(schema: Schema): Parse<Schema> {
  const check = createValidator()({ schema, httpPart: 'body', method: 'POST', url: '/api/contexts/import' });
  return (value, at) => {
    if (check(value)) return value as Static<Schema>;
    const { code, message, param } = explain(check.errors ?? [], 'body');
    const place = [at, param ?? ''].filter((part) => part !== '').join('.');
    throw wrong(place, message.replace(param ?? 'The body', place === '' ? 'The body' : place), code);
  };
}

export function wrong(
  at: string,
  message: string,
  code: 'invalid_request' | 'unsupported' | Parameters<typeof refuse>[0] = 'invalid_request',
): RequestRefused {
  return new RequestRefused(at === '' ? refuse(code, message) : refuse(code, message, at));
}
