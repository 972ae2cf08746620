import { describe, expect, test } from 'vitest';
import { faultFrames, faultName, faultText, LONGEST_FAULT } from '../../src/tools/run/fault.ts';

describe('the message of a fault', () => {
  test.each([
    ['an error', new Error('no such city'), 'no such city'],
    ['one without words', new TypeError(), 'TypeError'],
    ['its causes', new Error('fetch failed', { cause: new Error('ECONNREFUSED') }), 'fetch failed: ECONNREFUSED'],
    ['several errors', new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
    ['a string', 'boom', 'boom'],
    ['an object with a message', { message: 'boom' }, 'boom'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), 'it threw a value that cannot be converted to text'],
  ])('%s', (_, thrown, expected) => {
    expect(faultText(thrown)).toBe(expected);
  });

  test('has no stack, and is limited', () => {
    const endless = new Error('x'.repeat(1_000_000));
    endless.cause = endless;
    expect(faultText(endless).length).toBeLessThan(LONGEST_FAULT + 100);
    expect(faultText(new Error('a'))).not.toContain(' at ');
  });

  test('an error whose properties throw is survived', () => {
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('hands off');
      },
    });
    expect(faultText(hostile)).toBe('it threw a value that cannot be converted to text');
    expect(faultName(hostile)).toBe('object');
  });
});

describe('the place of a fault', () => {
  test('is that of the error and its causes, without their messages', () => {
    const secret = 'sk-secret\n    at somewhere (sk-secret.ts:1:1)';
    const frames = faultFrames(new TypeError(secret, { cause: new Error(secret) }));
    expect(frames.filter((frame) => frame.includes('fault.test.ts'))).toHaveLength(2);
    expect(frames.join('\n')).not.toContain('secret');
    expect(frames.length).toBeLessThanOrEqual(20);
  });

  test('is missing for a value that is no error, or has no end', () => {
    for (const thrown of [null, 'at x', { stack: '    at x' }]) expect(faultFrames(thrown)).toEqual([]);
    const endless = new Error('x');
    endless.cause = endless;
    expect(faultFrames(endless).length).toBeGreaterThan(0);
  });
});
