/** What a schema expects of a value, as text that follows "must be". */
import { FUNCTION } from './build.ts';
import { FILLED, NAME_EXPECTATIONS, PLAIN_TEXT, TEXT_EXPECTATIONS } from './patterns.ts';

/** The keywords that have a text. */
export type Described = {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  [keyword: string]: unknown;
};

/** By format. */
export type FormatExpectations = ReadonlyMap<string, string>;

/** One or more choices. */
export function choicesOf(schema: Described, formats: FormatExpectations): readonly string[] {
  return schema.enum === undefined ? [expectationOf(schema, formats)] : schema.enum.map(String);
}

export function expectationOf(schema: Described, formats: FormatExpectations): string {
  if (schema[FUNCTION] === true) return 'a function';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.format !== undefined) return formats.get(schema.format) ?? `a valid ${schema.format}`;
  switch (schema.type) {
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return textOf(schema);
    case 'array':
      return `a list${counted(schema.minItems, schema.maxItems, 'entries')}`;
    case 'object':
      return 'an object';
    case 'null':
      return 'null';
    case undefined:
    default:
      return 'valid';
  }
}

/**
 * Whether a wrong value may be repeated in a message: not in place of free text, a list or an object, where it may hold a
 * secret. `secrets`: formats of what may hold one.
 */
export function isQuotable({ type, enum: choices, pattern, format }: Described, secrets: readonly string[]): boolean {
  if (type === 'object' || type === 'array') return false;
  if (type !== 'string' || choices !== undefined || (pattern ?? '') in NAME_EXPECTATIONS) return true;
  return format !== undefined && !secrets.includes(format);
}

function range({ minimum, exclusiveMinimum, maximum }: Described): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`greater than ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ];
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`;
}

function textOf({ pattern, minLength = 0, maxLength }: Described): string {
  const known = NAME_EXPECTATIONS[pattern ?? ''] ?? TEXT_EXPECTATIONS[pattern ?? ''];
  if (known !== undefined) return known;
  const isFilled = minLength === 1 || pattern === FILLED;
  const size = counted(isFilled ? 0 : minLength, maxLength, 'characters');
  const text = `${isFilled ? 'a non-empty' : 'a'} string${size}`;
  if (pattern === PLAIN_TEXT) return `${text}, without NUL and unpaired surrogates`;
  return pattern === undefined || pattern === FILLED ? text : `${text} that matches the pattern ${pattern}`;
}

function counted(least = 0, most: number | undefined, what: string): string {
  if (most === undefined) return least === 0 ? '' : ` of at least ${least} ${what}`;
  return least === 0 ? ` of at most ${most} ${what}` : ` of ${least} to ${most} ${what}`;
}

/** `a, b or c`. */
export function either(choices: readonly string[]): string {
  const last = choices.at(-1) ?? '';
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`;
}
