// Work at the start of a process is repeated while the database is unavailable, and only then.
import { expect, test } from 'vitest';
import { whenUp } from '../../../src/db/connection/when-up.ts';

test('work is repeated after a cut connection, and while the database starts', async () => {
  const errors = ['CONNECTION_CLOSED', '57P03'];
  const waits: unknown[] = [];
  const work = async (): Promise<string> => {
    const code = errors.shift();
    if (code !== undefined) throw Object.assign(new Error('away'), { code });
    return 'done';
  };
  const done = await whenUp(work, (error) => waits.push(error));
  expect(done).toBe('done');
  expect(errors).toEqual([]);
  expect(waits).toEqual([expect.objectContaining({ code: 'CONNECTION_CLOSED' })]);
});

test('any other error is final', async () => {
  let times = 0;
  const work = async (): Promise<never> => {
    times += 1;
    throw Object.assign(new Error('no such table'), { code: '42P01' });
  };
  await expect(whenUp(work)).rejects.toThrow('no such table');
  expect(times).toBe(1);
});
