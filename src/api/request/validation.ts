/**
 * Validates requests. Ajv checks schemas without type coercion; `convert` first turns the text of query parameters and
 * headers into numbers and booleans, strictly. An error message names one wrong field at a time.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchema, FastifySchemaValidationError } from 'fastify';
import { refuse } from '../../core/errors.ts';
import type { Refusal } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { MAX_BYTES, SETTINGS_BYTES } from '../schemas/common.ts';
import { components } from '../schemas/components.ts';

const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  useDefaults: true,
  removeAdditional: false,
  coerceTypes: false,
  // Errors then have `data` and `parentSchema`: see `wrongPath` and `unknownField`.
  verbose: true,
};

/** Creates the validator of one application, with its own compiled schemas. */
export function createValidator(): FastifySchemaCompiler<FastifySchema> {
  const ajv = withComponents(new Ajv2020(OPTIONS));
  return ({ schema, httpPart }) => {
    const validate = ajv.compile(schema);
    if (httpPart === 'body') return validate;
    const types = textTypes(schema);
    return (given: Record<string, unknown>) => {
      convert(given, types);
      return validate(given) || { error: validate.errors ?? [] };
    };
  };
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

function withComponents(ajv: Ajv2020): Ajv2020 {
  formats.default(ajv);
  ajv.addFormat('uuid', isUuid);
  ajv.addKeyword({
    keyword: MAX_BYTES,
    schemaType: 'number',
    validate: (most: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= most,
    errors: false,
  });
  for (const component of components) ajv.addSchema(component);
  return ajv;
}

/** An error of Ajv; `data` is the value that failed. */
type Fault = FastifySchemaValidationError & { data?: unknown; parentSchema?: { properties?: object } };

type Part = 'body' | 'querystring' | 'headers' | 'params';

/**
 * Why a request is not valid. Never quotes values of a body, a query or a header. `at`: path of the value in the body.
 */
export function explain(errors: readonly Fault[], part: Part, at = ''): Refusal {
  if (part === 'params') return refuse('not_found', wrongPath(errors));
  const depth = Math.max(...errors.map((error) => pathOf(error).length));
  const deepest = errors.filter((error) => pathOf(error).length === depth && !isFrame(error));
  const [first] = deepest.length > 0 ? deepest : errors;
  if (first === undefined) return refuse('invalid_request', 'The request is not valid.');
  const param = placeOf(at, first);
  const same = deepest.filter((error) => placeOf(at, error) === param);
  const faults = [...new Set(same.map(faultOf))];
  const subject = param === '' ? 'The body' : param;
  const message =
    first.keyword === 'additionalProperties'
      ? unknownField(param, same, part)
      : `${subject} ${faults.length > 0 ? faults.join(' or ').replaceAll(' or must be ', ' or ') : faultOf(first)}.`;
  return param === '' ? refuse('invalid_request', message) : refuse('invalid_request', message, param);
}

function unknownField(param: string, errors: readonly Fault[], part: Part): string {
  const known = errors.flatMap(({ parentSchema }) => Object.keys(parentSchema?.properties ?? {}));
  const [what, which] = part === 'querystring' ? ['query parameter', 'parameters'] : ['field', 'fields'];
  return `Unknown ${what} \`${param}\`. Known ${which}: ${[...new Set(known)].join(', ') || 'none'}.`;
}

/** An id in a path that is not a UUID, or another invalid part of a path. */
function wrongPath([first]: readonly Fault[]): string {
  if (first === undefined) return 'No resource has this path.';
  const { data, params } = first;
  if (params['format'] !== 'uuid') return `No resource has this path: ${paramOf(first)} ${faultOf(first)}.`;
  return `No resource has the id ${JSON.stringify(String(data).slice(0, 100))}. Ids are UUIDs.`;
}

/** Errors that only report that a nested value is wrong. */
function isFrame({ keyword }: Fault): boolean {
  return ['anyOf', 'oneOf', 'if', 'not'].includes(keyword);
}

/** The path of the wrong value, down to a missing or unknown field. */
function pathOf(error: Fault): string[] {
  const path = error.instancePath.split('/').slice(1).map(unescape);
  switch (error.keyword) {
    case 'additionalProperties':
      return [...path, String(error.params['additionalProperty'])];
    case 'required':
      return [...path, String(error.params['missingProperty'])];
    case 'propertyNames':
      return [...path, String(error.params['propertyName'])];
    case 'discriminator':
      return [...path, String(error.params['tag'])];
    default:
      return path;
  }
}

function placeOf(at: string, error: Fault): string {
  return [at, paramOf(error)].filter((part) => part !== '').join('.');
}

function paramOf(error: Fault): string {
  const path = pathOf(error)
    .join('.')
    .replaceAll(/[\0\p{Cs}]/gu, '\u{FFFD}');
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

function faultOf(error: Fault): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return 'is unknown';
    case 'required':
      return 'is required';
    case 'propertyNames':
      return 'is a reserved name and cannot be set here';
    case 'discriminator':
      return 'is missing or not one of the allowed types';
    case 'enum':
      return `must be one of ${listOf(error.params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(error.params['allowedValue'])}`;
    case MAX_BYTES:
      return `must be at most ${SETTINGS_BYTES / 1024} KB of JSON`;
    case 'pattern':
      return isPlainText(error)
        ? 'must not contain NUL or an unpaired surrogate'
        : `must match the pattern ${String(error.params['pattern'])}`;
    default:
      return error.message ?? 'is not valid';
  }
}

function isPlainText(error: Fault): boolean {
  return String(error.params['pattern']).includes('\\p{Cs}');
}

function listOf(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(', ') : 'the documented values';
}

/** Unescapes a part of a JSON pointer. */
function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
