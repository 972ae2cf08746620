/** The validator of requests and of the config file. It reports all errors, and changes values only to add defaults. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { isUuid } from '../core/ids.ts';
import { MAX_BYTES } from './build.ts';

const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  useDefaults: true,
  removeAdditional: false,
  coerceTypes: false,
  allErrors: true,
  // `explain` reads the value and the schema of an error.
  verbose: true,
};

/** In words that follow "must be". */
export const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['uuid', 'a UUID'],
  ['date-time', 'a time in ISO 8601, such as 2026-01-31T12:00:00Z'],
]);

/** `components`: schemas with an `$id`, which others reference. */
export function createAjv(components: readonly TSchema[]): Ajv2020 {
  const ajv = new Ajv2020(OPTIONS);
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
