// Packs both packages once for all files of this folder, and installs `nightshift` in an empty folder, as a user does.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The files that `npm publish` would upload. */
    packed: { nightshift: string; create: string };
    /** The folder in which the packed `nightshift` is installed. */
    installed: string;
  }
}

const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await temporaryFolder();
  const nightshift = await pack(ROOT, home);
  const create = await pack(path.join(ROOT, 'packages/create-nightshift'), home);
  const installed = path.join(home, 'installed');
  await mkdir(installed);
  await writeFile(path.join(installed, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', nightshift], { cwd: installed });
  project.provide('packed', { nightshift, create });
  project.provide('installed', installed);
  return () => removeFolder(home);
}

/** Builds and packs the package of a folder. Returns the file. */
async function pack(folder: string, into: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', into], { cwd: folder });
  return path.join(into, stdout.trim().split('\n').at(-1) ?? '');
}
