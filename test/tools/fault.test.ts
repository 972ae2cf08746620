import { describe, expect, test } from 'vitest';
import { faultName, faultText, LONGEST_FAULT } from '../../src/tools/fault.ts';

describe('what a model is told of a fault', () => {
  test.each([
    ['an error', new Error('no such city'), 'no such city'],
    ['one without words', new TypeError(), 'TypeError'],
    [
      'its causes',
      new Error('fetch failed', { cause: new Error('ECONNREFUSED') }),
      'fetch failed: ECONNREFUSED',
    ],
    ['several errors', new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
    ['a string', 'boom', 'boom'],
    ['an object with a message', { message: 'boom' }, 'boom'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), 'it threw something that cannot be read'],
  ])('%s', (_, thrown, expected) => {
    expect(faultText(thrown)).toBe(expected);
  });

  test('never a stack, and never without end', () => {
    const endless = new Error('x'.repeat(1_000_000));
    endless.cause = endless;
    expect(faultText(endless).length).toBeLessThan(LONGEST_FAULT + 100);
    expect(faultText(new Error('a'))).not.toContain(' at ');
  });

  test('an error that breaks whoever reads it is survived', () => {
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('hands off');
      },
    });
    expect(faultText(hostile)).toBe('it threw something that cannot be read');
    expect(faultName(hostile)).toBe('object');
  });
});
