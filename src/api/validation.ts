/**
 * The parser at the edge: schemas are checked by Ajv without any conversion. The text of query parameters and headers
 * is made numbers and booleans before, strictly (`convert`). What is wrong is told by the name of the member that is, one at
 * a time.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchema, FastifySchemaValidationError } from 'fastify';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { isUuid } from '../core/ids.ts';
import { isMemberNotBuilt, isValueNotBuilt } from './not-built.ts';
import { MAX_BYTES } from './schemas/common.ts';
import { components } from './schemas/components.ts';

const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  useDefaults: true,
  removeAdditional: false,
  coerceTypes: false,
  // Faults carry what was given: see `isNotBuilt`.
  verbose: true,
};

/** Of one application: what it compiles is its own. */
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

/** The members of a query or of headers that are not text. */
function textTypes(schema: unknown): ReadonlyMap<string, TextType> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  return new Map(
    Object.entries(properties).flatMap(([name, { type }]): [string, TextType][] =>
      type === 'integer' || type === 'boolean' ? [[name, type]] : [],
    ),
  );
}

/** Digits that are exact in a number. */
const INTEGER = /^-?\d{1,15}$/;

/**
 * Makes numbers and booleans of text that is written as one, in place. Other text is left, for the schema to refuse. (Ajv's
 * `coerceTypes` takes "Infinity", "1e400", "0x10" and "" for numbers, and lets the first two pass every bound.)
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

/** What Ajv says; `data` is what was given there. */
type Fault = FastifySchemaValidationError & { data?: unknown };

type Part = 'body' | 'querystring' | 'headers' | 'params';

/** Why a request is not valid. Never quotes what was given. */
export function explain(errors: readonly Fault[], part: Part): Refusal {
  if (part === 'params') return refuse('not_found', 'There is nothing of this id.');
  const notBuilt = errors.find(isNotBuilt);
  if (notBuilt !== undefined) {
    const param = paramOf(notBuilt);
    return refuse('unsupported', `${param} is not supported yet${valueHint(notBuilt)}.`, param);
  }
  const depth = Math.max(...errors.map((error) => pathOf(error).length));
  const deepest = errors.filter((error) => pathOf(error).length === depth && !isFrame(error));
  const [first] = deepest.length > 0 ? deepest : errors;
  if (first === undefined) return refuse('invalid_request', 'The request is not valid.');
  const param = paramOf(first);
  const faults = [...new Set(deepest.filter((e) => paramOf(e) === param).map((e) => faultOf(e, part)))];
  const subject = param === '' ? 'The body' : param;
  const message = `${subject} ${faults.length > 0 ? faults.join(' or ').replaceAll(' or must be ', ' or ') : faultOf(first, part)}.`;
  return param === '' ? refuse('invalid_request', message) : refuse('invalid_request', message, param);
}

function isNotBuilt(error: Fault): boolean {
  switch (error.keyword) {
    case 'additionalProperties':
      return isMemberNotBuilt(String(error.params['additionalProperty']));
    case 'enum':
    case 'const':
      return isValueNotBuilt(pathOf(error).at(-1) ?? '', error.data);
    default:
      return false;
  }
}

function valueHint(error: Fault): string {
  return error.keyword === 'additionalProperties' ? '' : ` with this value: it ${faultOf(error, 'body')}`;
}

/** Says only that something within is wrong. */
function isFrame({ keyword }: Fault): boolean {
  return ['anyOf', 'oneOf', 'if', 'not'].includes(keyword);
}

/** Where it is wrong, down to the member that is missing or too many. */
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

function paramOf(error: Fault): string {
  const path = pathOf(error)
    .join('.')
    .replaceAll(/[\0\p{Cs}]/gu, '\u{FFFD}');
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

function faultOf(error: Fault, part: Part): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return part === 'querystring' ? 'is no parameter of this request' : 'is no member that is known here';
    case 'required':
      return 'is required';
    case 'propertyNames':
      return 'is reserved';
    case 'discriminator':
      return 'names no type that is taken here';
    case 'enum':
      return `must be one of ${listOf(error.params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(error.params['allowedValue'])}`;
    case MAX_BYTES:
      return 'takes more bytes than it may';
    case 'pattern':
      return isPlainText(error)
        ? 'must hold no NUL and no half of a surrogate pair'
        : 'is not written as it must be';
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

/** Of a JSON pointer. */
function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
