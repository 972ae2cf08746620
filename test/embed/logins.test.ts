// The login with which an instance enters the database: it must be able to do all that a worker does, and a refusal of
// PostgreSQL is told in its own words.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createFreshDatabase } from '../services/database.ts';
import { withLogins } from '../services/logins.ts';
import { openNightshift } from './opened.ts';

let database: Awaited<ReturnType<typeof createFreshDatabase>>;
let logins: Awaited<ReturnType<typeof withLogins>>;
beforeAll(async () => {
  database = await createFreshDatabase();
  logins = await withLogins(database.url);
});
afterAll(() => database.drop());

test.skipIf(inject('redisUrl') === null)('the login of worker processes runs jobs', async () => {
  // Without Redis, the queue makes a schema of its own, which this login may not.
  const redis = { redisUrl: inject('redisUrl') ?? '', prefix: 'embed-logins' };
  const nightshift = await openNightshift({ databaseUrl: logins.worker, migrate: false, ...redis });
  await nightshift.startWorker();
  const acme = nightshift.tenant('acme');
  const config = { model: 'simulated/default' };
  const { job_id } = await acme.workers.create({ name: 'w', config, input: { content: 'say: hello' } });
  expect(await acme.jobs.wait(job_id)).toMatchObject({ status: 'completed', output: { text: 'hello' } });
});

test('the login of API processes is refused: row security would hide everything from the worker', async () => {
  await expect(openNightshift({ databaseUrl: logins.api, migrate: false })).rejects.toMatchObject({
    name: 'NightshiftStartError',
    code: 'database_refused',
    message: expect.stringContaining('Row security limits the login'),
  });
});

const wrong = (change: (url: URL) => void): string => {
  const url = new URL(logins.worker);
  change(url);
  return url.href;
};

test.each([
  ['a wrong password', (url: URL) => void (url.password = 'wrong'), /password authentication failed/],
  ['a database that is not there', (url: URL) => void (url.pathname = '/absent'), /"absent" does not exist/],
])('%s is a refusal with the words of the server', async (_, change, words) => {
  await expect(openNightshift({ databaseUrl: wrong(change) })).rejects.toMatchObject({
    name: 'NightshiftStartError',
    code: 'database_refused',
    message: expect.stringMatching(words),
  });
});
