/** What the package ships, made for this run of the benchmark: the bundle, and the command that starts it. */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ENTRIES, bundle } from '../../bundle.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PACKAGE = path.join('.nightshift', 'bench', 'package');
const COMMAND = path.join('bin', 'nightshift.js');

/** The command, as a path from the root of the repository. */
export const BUNDLED_MAIN = path.join(PACKAGE, COMMAND);

let made: Promise<void> | null = null;

/** Makes it at the first call. */
export function makeBundle(): Promise<void> {
  made ??= make();
  return made;
}

async function make(): Promise<void> {
  const folder = path.join(ROOT, PACKAGE);
  rmSync(folder, { recursive: true, force: true });
  await bundle(PACKAGE_ENTRIES, path.join(folder, 'dist'));
  cpSync(path.join(ROOT, COMMAND), path.join(folder, COMMAND));
}
