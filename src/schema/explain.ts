/**
 * Turns the errors of a validator into faults, one for each wrong place. The branches of a union become one sentence:
 * where the value has the type of a branch, only the faults inside of it count.
 */
import type { ErrorObject } from 'ajv';
import { MAX_BYTES } from './build.ts';
import {
  choicesOf,
  either,
  expectationOf,
  isQuotable,
  type Described,
  type FormatExpectations,
} from './expectation.ts';
import { MOST_FAULTS, faultAt, placeText, type Fault, type Faults, type Path } from './fault.ts';
import { foundText } from './found.ts';

/** How a kind of document is described. */
export type Subject = {
  /** The document itself. */
  whole: string;
  /** A member, and its plural. */
  member: readonly [string, string];
  /** Whether values may be repeated in messages. */
  quotes: boolean;
  formats: FormatExpectations;
  /** Formats of values that are never repeated. */
  secrets: readonly string[];
};

type Place = { path: Path; errors: ErrorObject[] };

/** `at`: the path of the validated value. */
export function explain(errors: readonly ErrorObject[], subject: Subject, at: Path = []): Faults {
  const places = placesOf(errors);
  const faults = places.slice(0, MOST_FAULTS).map((place) => faultOf(place, subject, at));
  return { faults, more: places.length - faults.length };
}

/** The wrong places, in the order of the errors. */
function placesOf(errors: readonly ErrorObject[]): Place[] {
  const entered = enteredUnions(errors);
  const places = new Map<string, Place>();
  for (const error of errors) {
    if (isFrame(error) || (entered.has(error.instancePath) && memberOf(error) === null)) continue;
    const member = memberOf(error);
    const key = member === null ? error.instancePath : `${error.instancePath}/${escape(member)}`;
    const place = places.get(key) ?? { path: pathOf(key), errors: [] };
    place.errors.push(error);
    places.set(key, place);
  }
  return [...places.values()];
}

/** Errors that only report that one of their parts is wrong. */
function isFrame({ keyword, propertyName }: ErrorObject): boolean {
  return ['anyOf', 'oneOf', 'not'].includes(keyword) || (propertyName !== undefined && keyword !== 'propertyNames');
}

/** The places of unions with a branch that has the type of the value. */
function enteredUnions(errors: readonly ErrorObject[]): ReadonlySet<string> {
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'anyOf').map((error) => error.instancePath));
  const entered = new Set<string>();
  if (unions.size === 0) return entered;
  for (const error of errors) {
    const parts = error.instancePath.split('/');
    const depth = memberOf(error) === null ? parts.length - 1 : parts.length;
    for (let length = 1; length <= depth; length += 1) {
      const outer = parts.slice(0, length).join('/');
      if (unions.has(outer)) entered.add(outer);
    }
  }
  return entered;
}

/** The member that an error of its object is about. */
function memberOf({ keyword, params }: ErrorObject): string | null {
  switch (keyword) {
    case 'additionalProperties':
      return String(params['additionalProperty']);
    case 'required':
      return String(params['missingProperty']);
    case 'propertyNames':
      return String(params['propertyName']);
    case 'discriminator':
      return String(params['tag']);
    default:
      return null;
  }
}

function escape(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

function pathOf(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^(?:0|[1-9]\d{0,8})$/.test(part) ? Number(part) : part));
}

function faultOf({ path, errors }: Place, subject: Subject, at: Path): Fault {
  const [first] = errors;
  const place = [...at, ...path];
  if (first === undefined) return faultAt(place, 'is not valid');
  if (first.keyword === 'additionalProperties') return { path: place, message: unknown(first, subject, place) };
  const text = specialText(first, subject) ?? mustBe(errors, subject);
  return place.length === 0 ? { path: place, message: `${subject.whole} ${text}.` } : faultAt(place, text);
}

function unknown({ parentSchema }: ErrorObject, { member: [one, many] }: Subject, path: Path): string {
  const known = Object.keys(parentSchema?.['properties'] ?? {});
  return `Unknown ${one} \`${placeText(path)}\`. Known ${many}: ${known.join(', ') || 'none'}.`;
}

/** Null: the schema says what the value must be. */
function specialText({ keyword, params, schema, parentSchema }: ErrorObject, { formats }: Subject): string | null {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'propertyNames':
      return isNegation(schema)
        ? 'is a reserved name and cannot be set here'
        : `the name must be ${expectationOf(describedBy(schema), formats)}`;
    case 'discriminator':
      return 'is missing or not one of the allowed types';
    case 'uniqueItems':
      return `has the same entry twice, at ${params['j']} and ${params['i']}`;
    case 'minProperties':
      return 'must not be empty';
    case MAX_BYTES:
      return `is larger than ${Number(parentSchema?.[MAX_BYTES]) / 1024} KB of JSON`;
    default:
      return null;
  }
}

function isNegation(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'not' in schema;
}

function describedBy(schema: unknown): Described {
  return typeof schema === 'object' && schema !== null ? { type: 'string', ...schema } : {};
}

function mustBe(errors: readonly ErrorObject[], { formats, quotes, secrets }: Subject): string {
  if (errors[0]?.data === undefined) return 'is missing';
  // Where the value has the type of one branch, only the errors of that branch are shown.
  const otherTypes = new Set(errors.filter(({ keyword }) => keyword === 'type').map(branchOf));
  const inBranch = errors.filter((error) => !otherTypes.has(branchOf(error)));
  const shown = inBranch.length > 0 ? inBranch : errors;
  const schemas = shown.map(({ parentSchema = {} }): Described => parentSchema);
  const expected = new Set(schemas.flatMap((schema) => choicesOf(schema, formats)));
  const isValueShown = quotes && schemas.every((schema) => isQuotable(schema, secrets));
  const found = quotes ? foundIn(shown, isValueShown) : null;
  return `must be ${either([...expected])}${found === null ? '' : `, not ${found}`}`;
}

/** The place of the schema that the error is about. */
function branchOf({ schemaPath }: ErrorObject): string {
  return schemaPath.slice(0, schemaPath.lastIndexOf('/'));
}

/** For a wrong length, returns only the length: of a text in code points, as Ajv counts. */
function foundIn([first]: readonly ErrorObject[], quotable: boolean): string | null {
  const value: unknown = first?.data;
  switch (first?.keyword) {
    case 'minItems':
    case 'maxItems':
      return Array.isArray(value) ? String(value.length) : null;
    case 'maxLength':
      return typeof value === 'string' ? String(lengthOf(value)) : null;
    case 'type':
      return foundText(value, quotable) ?? (typeof value === 'string' ? 'a string' : null);
    case undefined:
    default:
      return foundText(value, quotable);
  }
}

/** In code points, without a list of them: the text may be large. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
