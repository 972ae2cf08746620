// Packs both packages once for all files of this folder, and installs `nightshift` in an empty folder, as a user does.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { install, pack } from './install-package.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The files that `npm publish` would upload. */
    packed: { nightshift: string; create: string };
    /** The folder in which the packed `nightshift` is installed. */
    installed: string;
  }
}

const ROOT = path.join(import.meta.dirname, '../..');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await temporaryFolder();
  const nightshift = await pack(ROOT, home);
  const create = await pack(path.join(ROOT, 'packages/create-nightshift'), home);
  const installed = path.join(home, 'installed');
  await mkdir(installed);
  await install(nightshift, installed);
  project.provide('packed', { nightshift, create });
  project.provide('installed', installed);
  return () => removeFolder(home);
}
