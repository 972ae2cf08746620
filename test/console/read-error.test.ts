// The faults of a refused request as the console shows them, without a browser.
import { expect, test } from 'vitest';
import { NightshiftError } from '../../src/client/index.ts';
import { readError } from '../../web/src/ui/state/read-error.ts';

const refused = (...messages: string[]) =>
  readError(
    new NightshiftError('invalid_request', 'one. two. three. And 2 more: error.errors lists all.', {
      errors: messages.map((message) => ({ path: 'config', code: 'invalid_request', message })),
    }),
  );

test('several faults are listed, and the message does not refer to a member of the response', () => {
  const five = ['one.', 'two.', 'three.', 'four.', 'five.'];
  expect(refused(...five)).toMatchObject({
    message: 'one. two. three. There are more errors.',
    faults: five,
  });
  expect(refused('one.', 'two.', 'three.')).toMatchObject({ message: 'one. two. three.' });
  expect(refused('one.', 'two.', 'one.', 'one.')).toMatchObject({
    message: 'one. two.',
    faults: ['one.', 'two.'],
  });
});

test('one fault is the message, without a list', () => {
  expect(refused('one.', 'one.', 'one.', 'one.')).toMatchObject({ message: 'one.', faults: [] });
  expect(readError(new Error('away'))).toMatchObject({ message: 'away', code: 'fault', faults: [] });
});
