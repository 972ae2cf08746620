// Packs a version of the sources as a release does, and installs it as npm does.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/** Builds and packs the package of a folder, whose own packages are installed. Returns the file. */
export async function pack(sources: string, into: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', into], { cwd: sources });
  return path.join(into, stdout.trim().split('\n').at(-1) ?? '');
}

/** `folder` becomes a project that has the package. */
export async function install(packed: string, folder: string): Promise<void> {
  await writeFile(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', ...QUIET, packed], { cwd: folder });
}
