/**
 * The parts that all providers share: bytes to events, messages to failures, headers to waits, strings that can be
 * sent.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../../src/core/model/model.ts';
import { factsOfThrown } from '../../src/llm/wire/answer/error-facts.ts';
import { classify, type FailureFacts } from '../../src/llm/wire/answer/failure.ts';
import { countIn } from '../../src/llm/wire/answer/json.ts';
import { readRetryAfter } from '../../src/llm/wire/http/retry-after.ts';
import { createSseReader } from '../../src/llm/wire/http/sse.ts';
import { wellFormed } from '../../src/llm/wire/request/well-formed.ts';
import { isTooDeep, type Json } from '../../src/core/json.ts';
import { argumentsText, readArguments, readInput } from '../../src/llm/wire/request/arguments.ts';

describe('server-sent events', () => {
  const read = (bytes: Uint8Array, cuts: readonly number[]) => {
    const reader = createSseReader();
    const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
    const events = places.slice(1).flatMap((end, index) => reader.push(bytes.subarray(places[index], end)));
    return [...events, ...reader.end()];
  };
  const stream =
    ': hello\r\nevent: a\r\ndata: {"x":"🦉"}\r\n\r\n\ndata: one\ndata:two\n\nid: 7\rdata: three\r\rdata: [DONE]';
  const expected = [
    { name: 'a', data: '{"x":"🦉"}' },
    { name: '', data: 'one\ntwo' },
    { name: '', data: 'three' },
    { name: '', data: '[DONE]' },
  ];

  test('are the same wherever the bytes are cut, with every kind of line end, and without the last one', () => {
    const bytes = new TextEncoder().encode(stream);
    expect(read(bytes, [])).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
        expect(read(bytes, cuts)).toEqual(expected);
      }),
    );
  });

  test('of megabytes in one line take no more than their length', () => {
    const reader = createSseReader();
    const part = new TextEncoder().encode('x'.repeat(1_000));
    reader.push(new TextEncoder().encode('data: '));
    for (let count = 0; count < 5_000; count++) expect(reader.push(part)).toEqual([]);
    expect(reader.push(new TextEncoder().encode('\n\n'))[0]?.data.length).toBe(5_000_000);
  });

  test('beyond the limit of one event are not kept, and the stream counts as broken', () => {
    const encode = (text: string) => new TextEncoder().encode(text);
    const reader = createSseReader(1_000);
    for (let count = 0; count < 10; count++)
      expect(reader.push(encode(`data: ${'x'.repeat(900)}\n\n`))).toHaveLength(1);
    expect(reader.isExceeded()).toBe(false);
    reader.push(encode(`data: ${'x'.repeat(600)}\n`));
    expect(reader.isExceeded()).toBe(false);
    expect(reader.push(encode(`data: ${'x'.repeat(600)}`))).toEqual([]);
    expect(reader.isExceeded()).toBe(true);
    expect([...reader.push(encode('\n\ndata: more\n\n')), ...reader.end()]).toEqual([]);
  });

  test('lose the byte order mark at their beginning', () => {
    const reader = createSseReader();
    const bytes = new TextEncoder().encode('\uFEFFdata: one\n\n');
    expect([...bytes].flatMap((byte) => reader.push(Uint8Array.of(byte)))).toEqual([{ name: '', data: 'one' }]);
  });
});

describe('failures', () => {
  const nothing: FailureFacts = { status: null, type: '', code: '', message: '', causeCode: '' };
  test.each<[Partial<FailureFacts>, boolean, FailureClass]>([
    [{ status: 401, type: 'invalid_request_error', code: 'invalid_api_key' }, false, 'auth'],
    [{ status: 401, type: 'invalid_request_error' }, false, 'auth'],
    [{ status: 402, type: 'billing_error' }, false, 'auth'],
    [{ status: 400, message: 'Your credit balance is too low to access the API' }, false, 'auth'],
    [{ status: 404, code: 'model_not_found' }, false, 'bad_request'],
    [{ status: 429, message: 'Request too large for gpt on tokens per min' }, false, 'prompt_too_long'],
    [{ status: 400, message: 'input length and `max_tokens` exceed context limit' }, false, 'prompt_too_long'],
    [{ status: 400, message: 'the request exceeds the available context size' }, false, 'prompt_too_long'],
    [{ status: 400, code: 'invalid_prompt', message: 'flagged' }, false, 'refused'],
    [{ status: 400, code: 'content_filter' }, false, 'refused'],
    [{ status: 503, type: 'server_error' }, false, 'overloaded'],
    [{ type: 'server_error' }, true, 'server_error'],
    [{ code: 'rate_limit_exceeded' }, true, 'rate_limited'],
    [{ code: 'server_is_overloaded' }, true, 'overloaded'],
    [{ causeCode: 'ECONNRESET' }, false, 'unreachable'],
    [{ causeCode: 'ECONNRESET' }, true, 'stream_interrupted'],
    [{ causeCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, false, 'unreachable'],
    [{}, true, 'server_error'],
    [{ code: 'constructor', type: '__proto__' }, true, 'server_error'],
    [{ status: 429, code: 'toString', type: 'constructor' }, false, 'rate_limited'],
  ])('%o, first byte: %s, is %s', (facts, hasFirstByte, expected) => {
    expect(classify({ ...nothing, ...facts }, hasFirstByte)).toBe(expected);
  });

  test('of the network are classified by the innermost code, whatever error wraps it', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const wrapped = new Error('Connection error.', {
      cause: new TypeError('fetch failed', { cause: reset }),
    });
    expect(factsOfThrown(wrapped)).toMatchObject({ causeCode: 'ECONNRESET', message: 'read ECONNRESET' });
  });

  test('of our own are bugs, not failures of a provider', () => {
    expect(factsOfThrown(new TypeError('undefined is not a function'))).toBeNull();
    expect(factsOfThrown('a string')).toBeNull();
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-02T10:00:00Z');
  test.each<[Record<string, string>, number | null]>([
    [{}, null],
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': '3', 'retry-after-ms': '1500' }, 1_500],
    [{ 'retry-after': 'Mon, 02 Nov 2026 10:00:05 GMT' }, 5_000],
    [{ 'retry-after': 'Mon, 02 Nov 2026 10:00:05 GMT', date: 'Mon, 02 Nov 2026 10:00:04 GMT' }, 1_000],
    [{ 'retry-after': 'Mon, 02 Nov 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-4' }, null],
  ])('%o is %s ms', (headers, expected) => {
    expect(readRetryAfter(new Headers(headers), now)).toBe(expected);
  });
});

describe('request data', () => {
  test('is well-formed at every depth, and the same value where nothing had to be repaired', () => {
    const fine = { a: [{ b: 'x\u0000😀' }], c: null, d: 1 };
    expect(wellFormed(fine)).toBe(fine);
    expect(wellFormed({ a: [{ '\ud800': 'x\udc00' }] })).toEqual({ a: [{ '\ufffd': 'x\ufffd' }] });
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: false, maxDepth: 3 }), (value) => {
        expect(JSON.stringify(wellFormed(value)) ?? '').not.toMatch(/(?<!\\)(\\\\)*\\ud[89a-f]/);
      }),
    );
  });

  test("as arguments is the model's text, byte for byte, as long as it means the same", () => {
    expect(argumentsText({ a: 1 }, '{ "a": 1 }')).toBe('{ "a": 1 }');
    expect(argumentsText({ a: 2 }, '{ "a": 1 }')).toBe('{"a":2}');
    expect(argumentsText('{"a', '{"a')).toBe('{"malformed_arguments":"{\\"a"}');
    expect(argumentsText([1], '')).toBe('{"malformed_arguments":[1]}');
  });

  test('as arguments stays text where it is nested too deep', () => {
    for (const depth of [101, 10_000, 1_000_000]) {
      const text = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      const input = readArguments(text);
      expect(input).toBe(text);
      expect(argumentsText(input, text)).toBe(JSON.stringify({ malformed_arguments: text }));
      const kept = readInput(JSON.parse(text) as Json);
      expect(kept).toEqual(expect.stringMatching(/^\[{101,}/));
      // The tool runner parses it to find out why the arguments were refused.
      expect(isTooDeep(JSON.parse(typeof kept === 'string' ? kept : '') as Json)).toBe(true);
    }
    expect(readArguments('[[1]]')).toEqual([[1]]);
  });
});

test('a count is a whole number that can be stored, whatever a server sends', () => {
  const values = [7, 7.4, -1, 1e300, 2 ** 31, '7', null];
  expect(values.map((tokens) => countIn({ tokens }, 'tokens'))).toEqual([7, 7, 0, 2 ** 31 - 1, 2 ** 31 - 1, 0, 0]);
});
