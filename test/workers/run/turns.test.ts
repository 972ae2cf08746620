// Work of one key in turn.
import { expect, test } from 'vitest';
import { createTurns } from '../../../src/workers/run/turns.ts';

test('work of the same key is done one after the other, also after a failure; other keys do not wait', async () => {
  const turns = createTurns<string>();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work =
    (name: string, before: Promise<void> = Promise.resolve()) =>
    async (): Promise<string> => {
      await before;
      done.push(name);
      if (name === 'fails') throw new Error(name);
      return name;
    };
  const first = turns('a', work('first', gate.promise));
  const failing = turns('a', work('fails'));
  const last = turns('a', work('last'));
  expect(await turns('b', work('other'))).toBe('other');
  expect(done).toEqual(['other']);
  gate.resolve();
  await expect(failing).rejects.toThrow('fails');
  expect(await Promise.all([first, last])).toEqual(['first', 'last']);
  expect(done).toEqual(['other', 'first', 'fails', 'last']);
  expect(await turns('a', work('again'))).toBe('again');
});
