// Schemas of clients' tools that are expensive to compile: they are inspected, and never compiled. Each contains a
// dangling reference, which no compiler accepts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileSchema } from '../../../src/tools/registry/schema.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const NOWHERE = { $ref: '#/$defs/nowhere' };
/** A config may have 64 KB. */
const ROOM = 63_000;

function chain(length: number): Body {
  const defs = Array.from({ length }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]);
  return { $defs: Object.fromEntries(defs), allOf: [{ $ref: '#/$defs/d0' }] };
}

function nested(depth: number): Body {
  return depth === 0 ? NOWHERE : { properties: { a: nested(depth - 1) } };
}

const HOSTILE: [string, Body][] = [
  ['20,000 schemas in allOf', { allOf: [NOWHERE, ...Array.from({ length: 20_000 }, () => ({}))] }],
  ['5,000 in anyOf', { anyOf: [NOWHERE, ...Array.from({ length: 5_000 }, () => ({ not: {} }))] }],
  ['a pattern of 60,000 characters', { pattern: `${'(a+)+'.repeat(ROOM / 5 - 100)}$`, not: NOWHERE }],
  ['a pattern that is none', { pattern: '(', not: NOWHERE }],
  ['a chain of 1,500 references', chain(1_500)],
  [
    'references in a circle',
    {
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      allOf: [{ $ref: '#/$defs/a' }, NOWHERE],
    },
  ],
  ['an enum of 10,000', { properties: { a: { enum: Array.from({ length: 10_000 }, (_, at) => at), ...NOWHERE } } }],
  ['40 levels', nested(40)],
  [
    '1,200 properties',
    { properties: Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`p${at}`, NOWHERE])) },
  ],
  ['3,000 required members', { required: Array.from({ length: 3_000 }, (_, at) => `member-${at}`), not: NOWHERE }],
];

test.each(HOSTILE)('with %s is answered', async (_, schema) => {
  for (const $schema of [
    undefined,
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
  ]) {
    const input_schema = { type: 'object', ...schema, ...($schema === undefined ? {} : { $schema }) };
    expect(compileSchema(input_schema).ok).toBe(false);
    const client_tools = [{ name: 'locate', description: 'Where the user is.', input_schema }];
    const { status, body } = await api.post('/api/workers', { name: 'w', config: { client_tools } });
    expect([status, body.error?.message]).toEqual([201, undefined]);
  }
});

// Draft 7 requires the values of an enum to be unique, which takes quadratic time to check: it is not checked.
test.each([undefined, 'http://json-schema.org/draft-07/schema#'])(
  'of %s may have an enum with equal values',
  async ($schema) => {
    const input_schema = {
      type: 'object',
      properties: { a: { enum: [1, 1] } },
      ...($schema === undefined ? {} : { $schema }),
    };
    const client_tools = [{ name: 'locate', description: 'Where the user is.', input_schema }];
    expect((await api.post('/api/workers', { name: 'w', config: { client_tools } })).status).toBe(201);
    const wrong = { ...client_tools[0], input_schema: { ...input_schema, properties: { a: { enum: 1 } } } };
    expect((await api.post('/api/workers', { name: 'w', config: { client_tools: [wrong] } })).status).toBe(422);
  },
);
