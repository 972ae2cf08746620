// Builds the console into the folder that a platform in a clone serves it from, where a source is newer than what was built.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newestChange } from '../../services/newest-change.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const FOLDER = path.join(ROOT, '.nightshift', 'web');
const SOURCES = ['web', 'src/client', 'package-lock.json'];
/** Contains the time of the newest source. */
const STAMP = 'newest-source';

export async function buildConsole(): Promise<void> {
  const newest = String(newestChange(SOURCES.map((source) => path.join(ROOT, source))));
  if (await isBuilt(newest)) return;
  const fresh = `${FOLDER}.${process.pid}`;
  await mkdir(path.dirname(FOLDER), { recursive: true });
  const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', path.join(ROOT, 'web'), '--outDir', fresh, '--logLevel', 'error'];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error('the console could not be built; the message is above');
  await writeFile(path.join(fresh, STAMP), newest);
  await rm(FOLDER, { recursive: true, force: true });
  await rename(fresh, FOLDER);
}

async function isBuilt(newest: string): Promise<boolean> {
  const stamp = path.join(FOLDER, STAMP);
  return existsSync(stamp) && (await readFile(stamp, 'utf8')) === newest;
}
