/**
 * Validates requests. `convert` first turns the text of query parameters and headers into numbers and booleans,
 * strictly. A refusal lists all faults of the body, the query or the headers.
 */
import type { ErrorObject } from 'ajv';
import type { FastifySchema, FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { refuse, refuseAll, type Refusal } from '../../core/errors.ts';
import { explain, type Subject } from '../../schema/explain.ts';
import { dottedPath, type Faults, type Path } from '../../schema/fault.ts';
import { FORMAT_EXPECTATIONS, createCompiler } from '../../schema/validator.ts';
import { RequestRefused } from '../response/problem.ts';
import { components } from '../schemas/components.ts';

const BODY: Subject = {
  whole: 'The body',
  member: ['field', 'fields'],
  quotes: true,
  formats: FORMAT_EXPECTATIONS,
  secrets: [],
};
const QUERY: Subject = { ...BODY, whole: 'The query', member: ['query parameter', 'parameters'] };
/** Never repeats a value. */
const HEADERS: Subject = { ...BODY, whole: 'The headers', quotes: false };

/** Creates the validator of one application. */
export function createValidator(): FastifySchemaCompiler<FastifySchema> {
  const compile = createCompiler(components);
  return ({ schema, httpPart }) => {
    const check = compile(schema);
    const types = httpPart === 'body' ? null : textTypes(schema);
    return (given: Record<string, unknown>) => {
      if (types !== null) convert(given, types);
      const errors = check(given);
      return errors.length === 0 || { error: new RequestRefused(refusalOf(errors, httpPart)) };
    };
  };
}

/** Returns the refusal of a value that is part of a body; null: it is valid. `at`: its path. */
export function createChecker(schema: TSchema): (value: unknown, at: Path) => Refusal | null {
  const check = createCompiler(components)(schema);
  return (value, at) => {
    const errors = check(value);
    return errors.length === 0 ? null : ofFaults(explain(errors, BODY, at));
  };
}

function refusalOf(errors: readonly ErrorObject[], httpPart: string | undefined): Refusal {
  if (httpPart === 'params') return refuse('not_found', wrongPath(errors));
  const subject = httpPart === 'querystring' ? QUERY : httpPart === 'headers' ? HEADERS : BODY;
  return ofFaults(explain(errors, subject));
}

function ofFaults({ faults, more }: Faults): Refusal {
  const listed = faults.map(
    ({ path, message }) => ({ path: dottedPath(path), code: 'invalid_request', message }) as const,
  );
  return refuseAll(listed, more) ?? refuse('invalid_request', 'The request is not valid.');
}

/** An id in a path that is not a UUID, or another invalid part of a path. */
function wrongPath(errors: readonly ErrorObject[]): string {
  const id: unknown = errors.find(({ params }) => params['format'] === 'uuid')?.data;
  if (typeof id === 'string') return `No resource has the id ${JSON.stringify(id.slice(0, 100))}. Ids are UUIDs.`;
  const [first] = explain(errors, BODY).faults;
  return `No resource has this path${first === undefined ? '.' : `. ${first.message}`}`;
}

type TextType = 'integer' | 'boolean';

/** The query parameters or headers that are not text. */
function textTypes(schema: unknown): ReadonlyMap<string, TextType> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  return new Map(
    Object.entries(properties).flatMap(([name, { type }]): [string, TextType][] =>
      type === 'integer' || type === 'boolean' ? [[name, type]] : [],
    ),
  );
}

/** At most 15 digits: JavaScript represents these integers exactly. */
const INTEGER = /^-?\d{1,15}$/;

/**
 * Converts text of integers and booleans in place. Leaves other text for the schema to refuse. (Ajv's `coerceTypes`
 * accepts "Infinity", "1e400", "0x10" and "" as numbers, and the first two pass every bound.)
 */
function convert(given: Record<string, unknown>, types: ReadonlyMap<string, TextType>): void {
  for (const [name, type] of types) {
    const text = given[name];
    if (typeof text !== 'string') continue;
    if (type === 'integer' && INTEGER.test(text)) given[name] = Number(text);
    if (type === 'boolean' && (text === 'true' || text === 'false')) given[name] = text === 'true';
  }
}
