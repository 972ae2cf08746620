import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/tools/run/json-text.ts';

describe('any value as text', () => {
  test('JSON is written as JSON, and strings unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(textOf(value)).toBe(typeof value === 'string' ? value : JSON.stringify(value));
      }),
    );
  });

  test('it never throws for plain data of any kind, and is JSON unless it is a string', () => {
    const anything = fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true });
    fc.assert(
      fc.property(anything, (value) => {
        const wrapped = textOf([value]);
        expect(() => JSON.parse(wrapped)).not.toThrow();
      }),
    );
  });

  test('a value that occurs twice is written twice; only a cycle is cut', () => {
    const shared = { a: 1 };
    expect(textOf({ x: shared, y: [shared, shared] })).toBe('{"x":{"a":1},"y":[{"a":1},{"a":1}]}');
    const cycle: { list: unknown[]; map: Map<string, unknown> } = { list: [], map: new Map() };
    cycle.list.push(cycle);
    cycle.map.set('back', cycle.map);
    expect(textOf(cycle)).toBe('{"list":["[circular]"],"map":[["back","[circular]"]]}');
  });

  test.each([
    ['nothing', undefined, ''],
    ['a function', () => 1, ''],
    ['null', null, 'null'],
    ['a BigInt', 12n, '"12"'],
    ['a BigInt within', { n: 12n }, '{"n":"12"}'],
    ['a map', new Map([['a', 1n]]), '[["a","1"]]'],
    ['a set', new Set([1, 2]), '[1,2]'],
    ['an error', { e: new TypeError('no') }, '{"e":"TypeError: no"}'],
    ['bytes', Buffer.from('grün'), 'grün'],
    ['bytes within', { stdout: Buffer.from('ok') }, '{"stdout":"ok"}'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])('%s', (_, value, expected) => {
    expect(textOf(value)).toBe(expected);
  });
});
