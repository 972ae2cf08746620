// The lock on a folder: one owner, whatever happened before.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockFolder } from '../../src/dev/folder-lock.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

let folder = '';
let file = '';
const options = { waitMs: 0, log: () => {} };

beforeEach(async () => {
  folder = await temporaryFolder();
  file = path.join(folder, 'lock');
});

afterEach(() => removeFolder(folder));

test('is free again after its release', async () => {
  await (await lockFolder(file, options)).release();
  await (await lockFolder(file, options)).release();
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['a process that is gone', '999999999 12345'],
  ['a pid that another process has by now', `${process.pid} 1`],
  ['an unreadable owner', ''],
])('of %s is taken over, by one of many', async (_, stale) => {
  await writeFile(file, stale);
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(file, options)));
  expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
  expect(await readdir(folder)).toEqual(['lock']);
});

test('waits for an owner that is about to release it', async () => {
  const first = await lockFolder(file, options);
  setTimeout(() => void first.release(), 100);
  const second = await lockFolder(file, { ...options, waitMs: 10_000 });
  expect(await readFile(file, 'utf8')).toContain(String(process.pid));
  await second.release();
});
