// Programs that tests start as processes of their own, bundled once: a process that starts from its sources spends more
// than a second of CPU on loading them. The folder is named after the newest source, so that a bundle is never stale
// and concurrent runs share one.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { PACKAGE_ENTRIES, bundle } from '../../bundle.ts';
import { newestChange } from './newest-change.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const HOME = path.join(ROOT, '.nightshift', 'test-programs');
const SOURCES = ['src', 'test/e2e', 'test/embed', 'test/tools', 'test/services', 'bundle.ts', 'package-lock.json'];
/** Worker processes of the test runner inherit it. */
const FOLDER = 'NIGHTSHIFT_TEST_PROGRAMS';

const PROGRAMS = {
  'src/cli/main.ts': 'main',
  'test/e2e/crash/crash-worker.ts': 'crash-worker',
  'test/e2e/crash/crash-client.ts': 'crash-client',
  'test/e2e/outages/resume-worker.ts': 'resume-worker',
  'test/embed/embedding-process.ts': 'embedding-process',
} as const;

export type Program = keyof typeof PROGRAMS;

/** The file that Node runs for a program: of the bundle, or the source where there is none. */
export function programFile(program: Program): string {
  const folder = process.env[FOLDER];
  return folder === undefined ? path.join(ROOT, program) : path.join(folder, `${PROGRAMS[program]}.js`);
}

/** Makes the bundle where it is missing; `programFile` returns its files from then on. */
export async function bundlePrograms(): Promise<void> {
  const newest = newestChange(SOURCES.map((source) => path.join(ROOT, source)));
  const folder = path.join(HOME, newest.toString(36));
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    const entries = Object.entries(PROGRAMS).map(([source, name]) => [name, source]);
    await mkdir(HOME, { recursive: true });
    await bundle({ ...PACKAGE_ENTRIES, ...Object.fromEntries(entries) }, fresh);
    // Another run may have been first.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }));
    await removeOld(folder);
  }
  process.env[FOLDER] = folder;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Runs that are in progress use bundles of today. */
async function removeOld(current: string): Promise<void> {
  const folders = readdirSync(HOME).map((name) => path.join(HOME, name));
  const old = folders.filter((one) => one !== current && statSync(one).mtimeMs < Date.now() - DAY_MS);
  await Promise.all(old.map((one) => rm(one, { recursive: true, force: true })));
}
