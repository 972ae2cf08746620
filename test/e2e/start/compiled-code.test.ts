// Compiled code is kept for the next start, also by a process that is killed: then the next one should start fast.
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../services/database.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { testPrefix } from '../../services/prefix.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { killChildren, startChild } from '../rig/children.ts';

const redisUrl = inject('redisUrl');

let folder = '';
let made: TestDatabase | null = null;
beforeEach(async () => {
  folder = await temporaryFolder();
  made = await createEmptyDatabase();
  await migrate(made.url);
});
afterEach(async () => {
  await killChildren();
  await made?.drop();
  await removeFolder(folder);
});

test.skipIf(redisUrl === null).each(['api', 'worker'])('%s keeps it once the process is ready', async (command) => {
  const child = startChild('src/cli/main.ts', [command], {
    DATABASE_URL: made?.url ?? '',
    REDIS_URL: redisUrl ?? '',
    NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, ''),
    PORT: '0',
    LOG_LEVEL: 'info',
    NODE_COMPILE_CACHE: folder,
  });
  await child.says(/is up/);
  const kept = async (): Promise<number> => (await readdir(folder, { recursive: true })).length;
  await expect.poll(kept, { timeout: 10_000 }).toBeGreaterThan(10);
  child.signal('SIGKILL');
  expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
});
