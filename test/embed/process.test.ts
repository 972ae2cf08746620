// What an embedded Nightshift does to its process: it starts or says why not, and leaves nothing behind.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { createNightshift, type NightshiftOptions } from '../../src/index.ts';
import { createEmptyDatabase, createTestDatabase } from '../services/database.ts';
import { programFile } from '../services/programs.ts';
import { afterTest } from './opened.ts';

const run = promisify(execFile);
const PROCESS = programFile('test/embed/embedding-process.ts');

test.for([['Redis'], ['PostgreSQL alone']])(
  'after stop nothing keeps the process alive, and its handlers are as before: with %s',
  { timeout: 120_000 },
  async ([services], { skip }) => {
    const redisUrl = inject('redisUrl');
    skip(services === 'Redis' && redisUrl === null);
    const database = await createTestDatabase();
    afterTest(() => database.drop());
    const args = [PROCESS, database.url, ...(services === 'Redis' && redisUrl !== null ? [redisUrl] : [])];
    // A process that does not end by itself is killed, which fails the test.
    const { stdout, stderr } = await run(process.execPath, args, { timeout: 60_000 });
    expect(stderr).toBe('');
    const { status, late, stopped, refused, same, before, after } = JSON.parse(stdout);
    expect({ status, late, stopped, refused, same }).toEqual({
      status: 'completed',
      late: 'unavailable',
      stopped: 'stopped',
      refused: 503,
      same: true,
    });
    expect(after).toEqual(before);
  },
);

/** What `createNightshift` rejects with. */
async function refusal(options: NightshiftOptions): Promise<{ code?: string; message: string }> {
  return createNightshift({ logger: 'silent', ...options }).then(
    () => ({ message: 'it started' }),
    (error: { code?: string; message: string }) => error,
  );
}

test('a database that does not answer is an error, and none that nothing handles', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const error = await refusal({ databaseUrl: 'postgres://user:secret@127.0.0.1:1/none' });
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('127.0.0.1:1') });
  expect(error.message).not.toContain('secret');
  expect(unhandled).toEqual([]);
});

test('missing tables are an error, until migrate makes them', async () => {
  const { url: databaseUrl, drop } = await createEmptyDatabase();
  afterTest(drop);
  expect(await refusal({ databaseUrl })).toMatchObject({
    code: 'not_migrated',
    message: expect.stringContaining('Pass migrate: true'),
  });
  const nightshift = await createNightshift({ databaseUrl, migrate: true, logger: 'silent' });
  await nightshift.stop();
});

test('all faults of the options are told together, without values', async () => {
  const wrong = {
    databaseUrl: 'http://secret',
    concurrency: 0,
    prefix: 'a b',
    tool: [],
    config: { roles: 5 },
    logger: 'loud',
  };
  const error = await refusal(wrong as unknown as NightshiftOptions);
  expect(error).toMatchObject({
    code: 'invalid_options',
    faults: [
      expect.stringContaining('Unknown option tool. Known options: databaseUrl'),
      expect.stringMatching(/^databaseUrl must be a URL/),
      expect.stringMatching(/^concurrency must be a whole number from 1/),
      expect.stringMatching(/^prefix must consist of/),
      expect.stringMatching(/^config: roles/),
      expect.stringMatching(/^logger must be one of/),
    ],
  });
  expect(error.message).not.toContain('secret');
  expect(await refusal({})).toMatchObject({ message: expect.stringContaining('databaseUrl is missing') });
});

test('nothing of the environment is used unless it is given', async () => {
  process.env['DATABASE_URL'] ??= '';
  const set = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = 'postgres://127.0.0.1:1/none';
  const error = await refusal({});
  process.env['DATABASE_URL'] = set;
  expect(error.code).toBe('invalid_options');
  expect(await refusal({ env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } })).toMatchObject({
    code: 'unavailable',
  });
});
