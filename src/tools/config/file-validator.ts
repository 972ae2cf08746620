/** The validator of the config file: that of the API, with functions and with formats of its own. */
import { isAbsolute, normalize } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { Type, type Static, type TSchema } from 'typebox';
import { POSTGRES_URL, SCHEMA_NAME, isPostgresUrl, isSchemaName } from '../../core/database-schema.ts';
import { once } from '../../core/once.ts';
import { MOST_PRICE, parsePrice } from '../../core/money/money.ts';
import { PROVIDERS, parseModelName } from '../../core/model/model.ts';
import { RESERVED_PARAMETERS, isReserved } from '../../core/model/parameters.ts';
import { FUNCTION } from '../../schema/build.ts';
import { CONFIG_COMPONENTS } from '../../schema/config.ts';
import { FILLED } from '../../schema/patterns.ts';
import { explain, type Subject } from '../../schema/explain.ts';
import type { Faults } from '../../schema/fault.ts';
import { FORMAT_EXPECTATIONS, createAjv } from '../../schema/validator.ts';
import { parseCidr } from '../built-in/http/addresses.ts';
import { isServerName } from '../mcp/calls/names.ts';

type Format = { isValid: (text: string) => boolean; expectation: string };

export const MODEL = `provider/model, with one of the providers ${PROVIDERS.join(', ')}`;

/** `expectation`: what a value must be. */
const FORMATS = {
  model: {
    isValid: (text) => parseModelName(text) !== null,
    expectation: MODEL,
  },
  host: {
    isValid: isHostOrNetwork,
    expectation: 'a host name, an address, or a network such as 10.0.0.0/8',
  },
  image: {
    // Checked strictly, because it becomes an argument of the Docker CLI.
    isValid: (text) => /^[\w][\w./:@-]*$/.test(text),
    expectation: 'the name of a container image',
  },
  folder: {
    isValid: (text) => isAbsolute(text) && !text.includes('\0') && normalize(text) !== '/',
    expectation: 'an absolute path other than /',
  },
  variable: {
    isValid: (text) => /^[A-Za-z_]\w*$/.test(text),
    expectation: 'a valid name of an environment variable: letters, digits and "_"',
  },
  'no-nul': { isValid: (text) => !text.includes('\0'), expectation: 'a string without a NUL character' },
  parameter: {
    isValid: (text) => text.trim() !== '' && !isReserved(text),
    expectation: `the name of a parameter that the platform does not set itself (${RESERVED_PARAMETERS.join(', ')})`,
  },
  server: {
    isValid: isServerName,
    expectation:
      '1 to 32 letters, digits, "-" or "_", without "__" and not ending in "_", because tools are named name__tool',
  },
  url: { isValid: isHttpUrl, expectation: 'an http or https URL, without a user name' },
  'postgres-url': {
    isValid: isPostgresUrl,
    expectation: POSTGRES_URL,
  },
  schema: { isValid: isSchemaName, expectation: SCHEMA_NAME },
} satisfies Record<string, Format>;

const PRICE = `US dollars per million tokens: a number from 0 to ${MOST_PRICE} with at most six decimals`;

const SUBJECT: Subject = {
  whole: 'The configuration',
  member: ['field', 'fields'],
  quotes: true,
  formats: new Map([
    ...FORMAT_EXPECTATIONS,
    ...Object.entries(FORMATS).map(([name, { expectation }]) => [name, expectation] as const),
    ['price', PRICE],
  ]),
  // A URL with a password may stand in place of a host.
  secrets: ['url', 'host', 'no-nul', 'postgres-url'],
};

function isHostOrNetwork(text: string): boolean {
  const isHost = /^(?!-)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i.test(text) && !/^[\d.]+$/.test(text);
  return isHost || parseCidr(text) !== null;
}

function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '';
}

export function formatted(format: keyof typeof FORMATS) {
  return Type.String({ format });
}

export const Price = Type.Number({ format: 'price' });

export const FilledText = Type.String({ pattern: FILLED });

export function callable<Signature>() {
  return Type.Unsafe<Signature>({ [FUNCTION]: true });
}

/** An object with a member for each name. */
export function byName<Schema extends TSchema>(name: TSchema, schema: Schema) {
  return Type.Unsafe<{ [name: string]: Static<Schema> }>({
    type: 'object',
    propertyNames: name,
    additionalProperties: schema,
  });
}

/** Returns all faults of a value. The schema is compiled when it is used first. */
export function checkerOf(schema: TSchema): (value: unknown) => Faults {
  let validate: ValidateFunction | null = null;
  return (value) => {
    validate ??= compiler().compile(schema);
    return validate(value) ? { faults: [], more: 0 } : explain(validate.errors ?? [], SUBJECT);
  };
}

const compiler = once(() => {
  const ajv = createAjv(CONFIG_COMPONENTS, true);
  for (const [name, { isValid }] of Object.entries(FORMATS)) ajv.addFormat(name, isValid);
  ajv.addFormat('price', { type: 'number', validate: (price) => parsePrice(price) !== null });
  ajv.addKeyword({
    keyword: FUNCTION,
    schemaType: 'boolean',
    validate: (_: unknown, value: unknown) => typeof value === 'function',
    errors: false,
  });
  return ajv;
});
