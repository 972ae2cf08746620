// `output_schema` of a role in the config file: JSON Schema, TypeBox, or a library with Standard JSON Schema.
import { type } from 'arktype';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineConfig } from '../../src/tools/config/define.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';

function roleOf(output_schema: object | false) {
  const parsed = parseConfigFile(
    defineConfig({ roles: { reader: { output_schema, output_retries: 1 } } }),
    PLACEHOLDERS,
  );
  return parsed.ok ? parsed.settings.roles.get('reader') : parsed.faults;
}

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('a role takes', () => {
  test('a JSON Schema, in its order, or false', () => {
    const schema = { ...CITY, properties: { zip: {}, city: {} } };
    expect(JSON.stringify(roleOf(schema))).toBe(JSON.stringify({ output_retries: 1, output_schema: schema }));
    expect(roleOf(false)).toEqual({ output_retries: 1, output_schema: false });
  });

  test('a schema of TypeBox', () => {
    expect(roleOf(Type.Object({ city: Type.String() }))).toEqual({ output_retries: 1, output_schema: CITY });
  });

  test('one of zod, closed as providers need it', () => {
    expect(roleOf(z.object({ city: z.string() }))).toMatchObject({
      output_schema: { ...CITY, additionalProperties: false },
    });
  });

  test('one of ArkType, which is a function', () => {
    expect(roleOf(type({ city: 'string' }))).toMatchObject({ output_schema: CITY });
  });
});

describe('a role is refused', () => {
  test.each<[string, object, RegExp]>([
    ['with a schema that is not valid', { type: 'strng' }, /^roles\.reader\.output_schema: is not a valid JSON Schema/],
    [
      'with one that JSON cannot express',
      z.date(),
      /^roles\.reader\.output_schema: cannot be converted to JSON Schema: /,
    ],
    ['with a function', () => 1, /^roles\.reader\.output_schema: must be a JSON Schema as a plain JSON object, /],
    ['with one of a library without JSON Schema', { '~standard': { version: 1, validate: () => 1 } }, /must be a JSON/],
  ])('%s', (_, schema, fault) => {
    expect(roleOf(schema)).toEqual([expect.stringMatching(fault)]);
  });
});
