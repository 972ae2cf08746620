/** Parsers of the parts of an import, by the schemas of the API. Error messages name the place in the body. */
import type { Static, TSchema } from 'typebox';
import { createChecker } from '../request/validation.ts';
import { RequestRefused, invalid } from '../response/problem.ts';

/** `at`: path of the value in the body, empty for the body itself. */
type Parse<Schema extends TSchema> = (value: unknown, at: string) => Static<Schema>;

/** Refuses values that do not match the schema. */
export function parserOf<Schema extends TSchema>(schema: Schema): Parse<Schema> {
  const check = createChecker(schema);
  return (value, at) => {
    const refusal = check(value, pathOf(at));
    if (refusal === null) return value as Static<Schema>;
    throw new RequestRefused(refusal);
  };
}

function pathOf(at: string): (string | number)[] {
  if (at === '') return [];
  return at.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

export function wrong(at: string, message: string): RequestRefused {
  return invalid(message, at === '' ? undefined : at);
}
