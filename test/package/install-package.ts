// Packs a version of the sources as a release does, and installs it as npm does.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/** `sources`: a clone whose packages are installed. `folder` becomes a project that has the package. */
export async function installPackage(sources: string, folder: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: sources });
  const tarball = stdout.trim().split('\n').at(-1) ?? '';
  await writeFile(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', ...QUIET, `./${tarball}`], { cwd: folder });
}
