// The services that laptop mode uses, by the environment.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServices } from '../../src/dev/services.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

let cwd = '';

beforeEach(async () => {
  cwd = await temporaryFolder();
});

afterEach(() => removeFolder(cwd));

test('services that the environment names are used unchanged, and no secret is printed', async () => {
  const env = {
    DATABASE_URL: 'postgres://me:secret@db.example:5432/jobs',
    REDIS_URL: 'redis://:secret@cache.example',
  };
  const services = await startServices({ env, cwd });
  expect(services).toMatchObject({ databaseUrl: env.DATABASE_URL, redisUrl: env.REDIS_URL });
  expect(services.describe).toEqual([
    'PostgreSQL at db.example:5432/jobs (DATABASE_URL)',
    'Redis at cache.example (REDIS_URL)',
  ]);
  await services.stop();
  expect(await readdir(cwd)).toEqual([]);
});

test('without them, PostgreSQL is embedded, below .nightshift or the folder named instead', async () => {
  const redis = { REDIS_URL: 'redis://cache.example' };
  for (const [env, folder] of [
    [redis, '.nightshift'],
    [{ ...redis, NIGHTSHIFT_DATA: 'else where' }, 'else where'],
  ] as const) {
    const services = await startServices({ env, cwd });
    expect(services.databaseUrl).toMatch(/^postgres:\/\/.*@127\.0\.0\.1:\d+\/postgres$/);
    expect(services.describe[0]).toContain(`embedded, data in ${path.join(cwd, folder, 'postgres')}`);
    await services.stop();
  }
});
