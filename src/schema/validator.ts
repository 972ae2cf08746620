/** The validator of requests and of the config file. It changes values only to add defaults. */
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { isUuid } from '../core/ids.ts';
import { memoize } from '../core/memoize.ts';
import { MAX_BYTES } from './build.ts';

/** Ajv's optimiser takes a third of the time of a compilation, and V8 optimises what runs often anyway. */
export const UNOPTIMISED = { optimize: false } as const;

const OPTIONS: Options = {
  code: UNOPTIMISED,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  useDefaults: true,
  removeAdditional: false,
  coerceTypes: false,
  // The schemas are ours: tests validate them by the meta-schema, whose reading and compilation cost 50 ms.
  meta: false,
  validateSchema: false,
  // `explain` reads the value and the schema of an error.
  verbose: true,
};

/** As text that follows "must be". */
export const FORMAT_EXPECTATIONS: ReadonlyMap<string, string> = new Map([
  ['uuid', 'a UUID'],
  ['date-time', 'a time in ISO 8601, such as 2026-01-31T12:00:00Z'],
]);

/** `components`: schemas with an `$id`, which others reference. `allErrors`: instead of only the first. */
export function createAjv(components: readonly TSchema[], allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ ...OPTIONS, allErrors });
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

/**
 * All errors are collected of a value with at most this many members and items. A larger value gets only its first
 * error, because the time grows with the square of their number.
 */
export const MOST_EXPLAINED = 2_000;

/** The errors of a value; empty: it is valid. */
type Check = (value: unknown) => readonly ErrorObject[];

/** Ajv keeps what it has compiled: all compilers for the same components share it. */
const firstErrors = memoize((components: readonly TSchema[]) => createAjv(components, false));
const allErrors = memoize((components: readonly TSchema[]) => createAjv(components, true));

/** Compiles schemas for values of clients, which may be hostile: each when its first value comes. */
export function createCompiler(components: readonly TSchema[]): (schema: object) => Check {
  return (schema) => {
    let validate: ValidateFunction | null = null;
    let collect: ValidateFunction | null = null;
    return (value) => {
      validate ??= firstErrors(components).compile(schema);
      if (validate(value)) return [];
      const errors = validate.errors ?? [];
      if (!hasAtMost(MOST_EXPLAINED, value)) return errors;
      collect ??= allErrors(components).compile(schema);
      return collect(value) ? errors : (collect.errors ?? errors);
    };
  };
}

function hasAtMost(most: number, value: unknown): boolean {
  const left = [value];
  let count = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const members: unknown[] = Object.values(next);
    count += members.length;
    if (count > most) return false;
    left.push(...members);
  }
  return true;
}
