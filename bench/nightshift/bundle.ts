/** The bundle that the package ships, made for this run of the benchmark. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ENTRIES, bundle } from '../../bundle.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FOLDER = path.join('.nightshift', 'bench', 'bundle');

/** The command, as a path from the root of the repository. */
export const BUNDLED_MAIN = path.join(FOLDER, 'main.js');

let made: Promise<void> | null = null;

/** Makes it at the first call. */
export function makeBundle(): Promise<void> {
  made ??= make();
  return made;
}

async function make(): Promise<void> {
  rmSync(path.join(ROOT, FOLDER), { recursive: true, force: true });
  await bundle(PACKAGE_ENTRIES, path.join(ROOT, FOLDER));
}
