// Builds the console once for a run, into the folder that a platform in a clone serves it from; a build that fails fails the run.
import { spawnSync } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { findChromium } from './chromium.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FOLDER = path.join(ROOT, '.nightshift', 'web');

export default async function setup(): Promise<void> {
  if (findChromium() === null) {
    process.stderr.write('Console: no Chromium here (CHROMIUM_PATH may name one). Its tests are SKIPPED.\n');
    return;
  }
  const fresh = `${FOLDER}.${process.pid}`;
  await mkdir(path.dirname(FOLDER), { recursive: true });
  const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', path.join(ROOT, 'web'), '--outDir', fresh, '--logLevel', 'error'];
  // As it ships: not the slower build that a library would make for tests.
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error('the console could not be built; the message is above');
  await rm(FOLDER, { recursive: true, force: true });
  await rename(fresh, FOLDER);
}
