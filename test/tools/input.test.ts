import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { fromJsonSchema, fromStandardSchema, type ToolInput } from '../../src/tools/registry/input.ts';

const WHERE: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { enum: ['c', 'f'] },
    mail: { type: 'string', format: 'email' },
    days: { type: 'array', items: { type: 'integer' } },
  },
  required: ['city'],
  additionalProperties: false,
};

async function check(input: ToolInput, value: Json): Promise<unknown> {
  if (!input.ok) throw new Error(input.problem);
  const validated = await input.validate(value);
  return validated.ok ? validated.value : validated.problems;
}

describe('an input described by JSON Schema', () => {
  test('every problem is named with its path, the allowed values, and the place in the schema', async () => {
    const input = fromJsonSchema(WHERE);
    expect(await check(input, { unit: 'k', mail: 'nobody', days: [1, 'x'], extra: 1 })).toEqual([
      "the arguments must have required property 'city' (schema: #/required)",
      'the arguments must NOT have additional properties: "extra" (schema: #/additionalProperties)',
      '/unit must be equal to one of the allowed values: ["c","f"] (schema: #/properties/unit/enum)',
      '/mail must match format "email" (schema: #/properties/mail/format)',
      '/days/1 must be integer (schema: #/properties/days/items/type)',
    ]);
    expect(await check(input, { city: 'Bern' })).toEqual({ city: 'Bern' });
    expect(await check(input, 'not an object')).toEqual(['the arguments must be object (schema: #/type)']);
  });

  test('a thousand problems are reported as twenty, each short', async () => {
    const input = fromJsonSchema(WHERE);
    const value: JsonObject = { city: 'x', days: Array.from({ length: 1_000 }, () => 'x') };
    value['y'.repeat(10_000)] = 1;
    const problems = await check(input, value);
    expect(problems).toHaveLength(21);
    expect(JSON.stringify(problems).length).toBeLessThan(21 * 400);
    expect(problems).toContain('and 981 more');
  });

  const tuple = { type: 'object', properties: { p: { type: 'array', items: [{ type: 'string' }] } } };
  const prefixed = { type: 'object', properties: { p: { prefixItems: [{ type: 'string' }] } } };

  test.each([
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...prefixed }],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', ...tuple }],
    ['2020-12 by default', prefixed],
    ['draft 7 where nothing else fits', tuple],
  ])('%s', async (_, schema) => {
    const input = fromJsonSchema(schema);
    expect(await check(input, { p: [1] })).toEqual([expect.stringContaining('/p/0 must be string')]);
    expect(input).toMatchObject({ schema });
  });

  test('two tools may share an $id, inside and out', async () => {
    const part = { $id: 'part', type: 'string' };
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const schema = { $schema, $id: 'same', type: 'object', properties: { a: part, b: { $ref: 'part' } } };
    const other = {
      $schema,
      $id: 'same',
      type: 'object',
      properties: { a: { ...part, type: 'number' }, b: { $ref: 'part' } },
    };
    const [first, second] = [fromJsonSchema(schema), fromJsonSchema(other)];
    expect(await check(first, { a: 'x', b: 'x' })).toEqual({ a: 'x', b: 'x' });
    expect(await check(second, { a: 1, b: 'x' })).toHaveLength(1);
    expect(fromJsonSchema({ ...schema, $id: 3 })).toMatchObject({ ok: false });
    expect(fromJsonSchema({ ...schema, $id: 'http://json-schema.org/draft-07/schema' })).toBeDefined();
    expect(fromJsonSchema(WHERE)).toMatchObject({ ok: true });
  });

  test.each([
    ['no object', 'text', [], 'must be a JSON Schema'],
    ['a list', [], [], 'must be a JSON Schema'],
    ['no type', {}, ['type'], 'must be "object"'],
    ['another type', { type: 'string' }, ['type'], 'must be "object"'],
    ['a wrong keyword', { type: 'object', required: 'city' }, [], 'data/required must be array'],
    ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/$defs/b' } } }, [], "can't resolve"],
    ['a broken pattern', { type: 'object', properties: { a: { pattern: '(' } } }, [], 'Invalid regular'],
    ['an old draft', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, [], 'neither draft'],
    ['an asynchronous one', { $async: true, type: 'object' }, [], '$async'],
    ['a cycle', cyclic(), [], 'must be a JSON Schema'],
  ])('%s is refused', (_, schema, at, problem) => {
    expect(fromJsonSchema(schema)).toMatchObject({
      ok: false,
      at,
      problem: expect.stringContaining(problem),
    });
  });
});

describe('an input described by a library', () => {
  test('its JSON Schema is derived, without the draft', () => {
    const input = fromStandardSchema(z.object({ city: z.string().describe('a city'), days: z.int().default(3) }));
    expect(input).toMatchObject({
      ok: true,
      schema: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'a city' },
          days: { type: 'integer', default: 3 },
        },
        required: ['city'],
      },
    });
    expect(input.ok && Object.keys(input.schema)).not.toContain('$schema');
  });

  test('the tool gets the arguments as the library transforms them', async () => {
    const input = fromStandardSchema(
      z.object({ days: z.int().default(3), at: z.string().transform((text) => text.length) }),
    );
    expect(await check(input, { at: 'noon' })).toEqual({ days: 3, at: 4 });
  });

  test('its problems are named with their path', async () => {
    const input = fromStandardSchema(z.object({ city: z.string(), days: z.array(z.int()) }));
    expect(await check(input, { days: [1, 'x'] })).toEqual([
      expect.stringMatching(/^\/city: .*expected string/),
      expect.stringMatching(/^\/days\/1: .*expected/),
    ]);
    expect(await check(input, 'x')).toEqual([expect.stringMatching(/^the arguments: /)]);
  });

  test('an asynchronous check is awaited', async () => {
    const input = fromStandardSchema(z.object({ a: z.string().refine(async (text) => text === 'x', 'must be x') }));
    expect(await check(input, { a: 'x' })).toEqual({ a: 'x' });
    expect(await check(input, { a: 'y' })).toEqual(['/a: must be x']);
  });

  test.each([
    ['no schema', {}, 'must be a Standard Schema'],
    ['text', 'x', 'must be a Standard Schema'],
    [
      'one that cannot describe itself',
      { '~standard': { version: 1, validate: () => ({}) } },
      'use input_schema instead',
    ],
    ['what JSON Schema cannot say', z.object({ at: z.date() }), 'Date cannot be represented'],
    ['no object', z.string(), 'must be "object"'],
    ['a choice of objects', z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]), 'must be "object"'],
  ])('%s is refused', (_, schema, problem) => {
    expect(fromStandardSchema(schema)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(problem),
    });
  });
});

function cyclic(): unknown {
  const schema: Record<string, unknown> = { type: 'object' };
  schema['properties'] = schema;
  return schema;
}
