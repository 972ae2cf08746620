// The round trip of any JSON through jsonb.
import * as fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { decodeJson, encodeJson, plainText } from '../../../src/db/connection/codec.ts';
import { given, type Given } from '../database-fixture.ts';

const MARK = '\uF8FE';

/**
 * Difficult text: NUL, lone surrogates, the escape marker itself, text that looks like an escape or like the marker's
 * output.
 */
const someText = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom('\0', '\ud800', '\udfff', MARK, '\\', 'u0000', 'ud800', '0000', 'f8fe', '"'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/**
 * Without backslashes, because of a fault of `JSON.parse` in V8 13.6: where an object that was read before has the key
 * `\`, the key `"` of the next one, which is written `\"`, is taken for it.
 */
const someKey = someText.map((text) => text.replaceAll('\\', '/'));

const { value: someJson } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.maxSafeInteger(),
    someText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(someKey, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test('encoding and decoding are inverse, and the encoded text contains nothing that jsonb refuses', () => {
  fc.assert(
    fc.property(someJson, (value) => {
      const encoded = encodeJson(value);
      expect(decodeJson(encoded)).toEqual(value);
      expect(JSON.parse(encoded)).toSatisfy((parsed: Json) => !/\0|\p{Cs}/u.test(deepText(parsed)));
    }),
    { numRuns: 2_000 },
  );
});

test('different values never have the same encoding', () => {
  fc.assert(
    fc.property(someText, someText, (one, other) => {
      expect(encodeJson(one) === encodeJson(other)).toBe(one === other);
    }),
    { numRuns: 2_000 },
  );
});

test('text without special characters is stored unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
      expect(encodeJson({ text })).toBe(JSON.stringify({ text }));
    }),
  );
});

test.each(['\\', '\\u0000', '\\ud800', `\\${MARK}`, '"\\"'])('a key %j comes back unchanged', (key) => {
  expect(decodeJson(encodeJson({ [key]: { [`${key}\0`]: key } }))).toEqual({ [key]: { [`${key}\0`]: key } });
});

test('text columns lose NUL and nothing else', () => {
  expect(plainText('a\0b\0')).toBe('a\u{FFFD}b\u{FFFD}');
  expect(plainText('plain')).toBe('plain');
});

describe('through Postgres', () => {
  let the: Given;
  beforeAll(async () => {
    the = await given();
  });
  afterAll(() => the.close());

  test('any JSON, as a parameter, as a column, and deep in another', async () => {
    const { db } = the.database;
    await fc.assert(
      fc.asyncProperty(fc.array(someJson, { minLength: 1, maxLength: 30 }), async (values) => {
        const [row] = await db.execute<{ back: Json; built: Json }>(sql`
          select ${encodeJson(values)}::jsonb as back, jsonb_build_object('deep', ${encodeJson(values)}::jsonb) as built`);
        expect(row).toEqual({ back: values, built: { deep: values } });
      }),
      { numRuns: 150 },
    );
  });

  test('a job’s metadata and a message of a megabyte of emoji', async () => {
    const { contextId } = await the.context();
    const text = '👩‍👩‍👧‍👦\0\ud83d'.repeat(40_000);
    const metadata = { [`k${MARK}\0`]: { __proto__: null, text } };
    const jobId = await the.submit(contextId, { metadata: { ...metadata }, input: null });
    const [row] = await the.rows(`select metadata from jobs where id = '${jobId}'`);
    expect(row?.['metadata']).toEqual({ [`k${MARK}\0`]: { text } });
  });
});

function deepText(value: Json): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(deepText).join(' ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, member]) => `${key} ${deepText(member)}`)
    .join(' ');
}
