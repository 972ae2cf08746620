/**
 * The parser at the edge: schemas are checked by Ajv, bodies without any conversion, query parameters and headers with
 * that of text to numbers. What is wrong is told by the name of the member that is, one at a time.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options, ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FastifySchema, FastifySchemaValidationError } from 'fastify';
import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { isUuid } from '../core/ids.ts';
import { isMemberNotBuilt, isValueNotBuilt } from './not-built.ts';
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
export function createValidator(): (route: FastifyRouteSchemaDef<FastifySchema>) => ValidateFunction {
  const exact = withComponents(new Ajv2020(OPTIONS));
  const converting = withComponents(new Ajv2020({ ...OPTIONS, coerceTypes: true }));
  return ({ schema, httpPart }) => (httpPart === 'body' ? exact : converting).compile(schema);
}

function withComponents(ajv: Ajv2020): Ajv2020 {
  formats.default(ajv);
  ajv.addFormat('uuid', isUuid);
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
