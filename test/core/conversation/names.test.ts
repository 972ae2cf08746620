// Parsing of text from outside: turns, ids, names of models; and the closing texts for calls without a result.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OUTCOME_UNKNOWN, closingOf } from '../../../src/core/conversation/closing-texts.ts';
import { CODES, refuse } from '../../../src/core/errors.ts';
import { isUuid, parseId } from '../../../src/core/ids.ts';
import { PROVIDERS, formatModelName, parseModelName } from '../../../src/core/model/model.ts';
import { EFFECTS } from '../../../src/core/tools/tool.ts';
import { answerTurn, inputTurn, lastTurn, parseTurn, type Turn } from '../../../src/core/conversation/turn.ts';
import { call } from '../builders.ts';

describe('turns', () => {
  const someNumber = fc.integer({ min: 1, max: 999_999_999 });

  test('a written turn parses back', () => {
    fc.assert(
      fc.property(someNumber, (number) => {
        expect(parseTurn(inputTurn(number))).toEqual({ side: 'u', number });
        expect(parseTurn(answerTurn(number))).toEqual({ side: 'a', number });
      }),
    );
  });

  test.each(['', 'u', 'a', 'u0', 'u01', 'b1', 'U1', 'u-1', 'u1.5', ' u1', 'u1 ', 'u1\n', '1', 'u1234567890', 'u１'])(
    '%j is no turn',
    (text) => {
      expect(parseTurn(text)).toBeNull();
    },
  );

  test('the last turn is the highest, on either side', () => {
    expect(lastTurn([])).toBe(0);
    expect(lastTurn(['u1', 'a1', 'u2'])).toBe(2);
    expect(lastTurn(['u9', 'a10', 'u3'])).toBe(10);
    fc.assert(
      fc.property(fc.array(someNumber, { minLength: 1 }), (numbers) => {
        const turns = numbers.map((number, n): Turn => (n % 2 === 0 ? inputTurn(number) : answerTurn(number)));
        expect(lastTurn(turns)).toBe(Math.max(...numbers));
      }),
    );
  });
});

describe('ids', () => {
  test('a UUID in any case is the same id', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(isUuid(uuid)).toBe(true);
        expect(parseId(uuid.toUpperCase())).toBe(uuid.toLowerCase());
      }),
    );
  });

  test.each([
    '',
    'x',
    '0198c0de-0000-7000-8000-00000000000',
    '0198c0de-0000-7000-8000-0000000000000',
    '0198c0de000070008000000000000000',
    '{0198c0de-0000-7000-8000-000000000000}',
    '0198c0de-0000-7000-8000-00000000000g',
    '0198c0de-0000-7000-8000-000000000000\n',
    "0198c0de-0000-7000-8000-000000000000' or true",
    '0198c0de-0000-0000-8000-000000000000',
  ])('%j is no id', (text) => {
    expect(parseId(text)).toBeNull();
  });
});

describe('names of models', () => {
  test.each([
    ['anthropic/claude-x', { provider: 'anthropic', model: 'claude-x' }],
    ['openai-chat/meta/llama-3', { provider: 'openai-chat', model: 'meta/llama-3' }],
    ['simulated/a b', { provider: 'simulated', model: 'a b' }],
  ])('%s splits into provider and model', (name, parts) => {
    expect(parseModelName(name)).toEqual(parts);
  });

  test.each(['', '/', 'openai', 'openai/', '/gpt', 'OpenAI/gpt', 'unknown/gpt', ' openai/gpt', 'constructor/x'])(
    '%j is no name of a model',
    (name) => {
      expect(parseModelName(name)).toBeNull();
    },
  );

  test('a name that was joined splits again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PROVIDERS), fc.string({ minLength: 1 }), (provider, model) => {
        expect(parseModelName(formatModelName({ provider, model }))).toEqual({ provider, model });
      }),
    );
  });
});

describe('closing texts', () => {
  test('a call that began is never reported as not having run', () => {
    const closing = closingOf(call({ effect: 'once', status: 'started' }));
    expect(closing.status).toBe('unknown');
    expect(closing.text).toMatch(/outcome unknown.*may have taken effect/s);
    expect(OUTCOME_UNKNOWN.status).toBe('unknown');
    expect(OUTCOME_UNKNOWN.text).toMatch(/outcome unknown.*Check before repeating/s);
  });

  test('a `once` call that was not marked never ran', () => {
    expect(closingOf(call({ effect: 'once' }))).toEqual({
      status: 'cancelled',
      text: 'Cancelled before it ran.',
    });
  });

  test.each(EFFECTS.filter((effect) => effect !== 'once'))(
    'a call of effect %s may have run: it needs no mark',
    (effect) => {
      expect(closingOf(call({ effect })).status).toBe('cancelled');
      expect(closingOf(call({ effect })).text).toMatch(/may have been running/);
    },
  );
});

test('a refusal names the parameter only where there is one', () => {
  expect(refuse('not_found', 'm')).toEqual({ kind: 'refused', code: 'not_found', message: 'm' });
  expect(refuse('unknown_tool', 'm', 'tools')).toHaveProperty('param', 'tools');
  for (const status of Object.values(CODES)) expect(status).toBeGreaterThanOrEqual(400);
});
