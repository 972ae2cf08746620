// Creates and opens the PostgreSQL data directory. It is created in a temporary folder and then renamed, so that it is
// never partial. It contains a random password that only its owner can read. The remains of an interrupted start are
// removed.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { PostgresHome } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { ServiceError, systemCode } from './service-error.ts';

const exec = promisify(execFile);

export const DATABASE_USER = 'nightshift';

/** The environment of PostgreSQL's programs: no variable that could change what they do. */
export const PLAIN_ENV: NodeJS.ProcessEnv = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' };

export interface Cluster {
  folder: string;
  password: string;
}

/** The programs of PostgreSQL, and the home and the account they run with. */
export interface Installation {
  home: PostgresHome;
  binaries: PostgresBinaries;
}

/**
 * Opens the cluster in this home, or creates it on first use. `sync: false` is faster, and not safe against a power
 * failure.
 */
export async function openCluster(
  installation: Installation,
  options: { sync: boolean; log: (line: string) => void },
): Promise<Cluster> {
  const { home, binaries } = installation;
  await clearUnfinished(home.folder);
  const folder = path.join(home.folder, 'data');
  const version = await versionOf(folder);
  if (version === null) {
    options.log('creating a new PostgreSQL cluster');
    await makeCluster(installation, folder, options.sync);
  } else if (version !== binaries.version.split('.')[0]) {
    throw new ServiceError(
      'postgres_failed',
      `The data in ${folder} is from PostgreSQL ${version}, but the program is ${binaries.version}. Move the folder ` +
        'away to start with an empty one, or set DATABASE_URL to a PostgreSQL server.',
    );
  }
  return { folder, password: await readFile(passwordFile(folder), 'utf8') };
}

const passwordFile = (folder: string): string => path.join(folder, 'nightshift-password');

async function versionOf(folder: string): Promise<string | null> {
  try {
    return (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    if (systemCode(error) !== 'EACCES') throw error;
    throw new ServiceError(
      'not_ours',
      `The data in ${folder} belongs to another user. Start Nightshift as that user, or set NIGHTSHIFT_DATA to ` +
        'another folder.',
    );
  }
}

async function makeCluster(installation: Installation, folder: string, sync: boolean): Promise<void> {
  const { home } = installation;
  const fresh = `${folder}.new-${randomBytes(6).toString('hex')}`;
  const secret = `${fresh}.password`;
  const password = randomBytes(24).toString('base64url');
  await mkdir(fresh, { mode: 0o700 });
  await chmod(fresh, 0o700);
  await writeFile(secret, password, { mode: 0o600, flag: 'wx' });
  await give(home, fresh);
  await give(home, secret);
  await initdb(installation, fresh, secret, sync);
  await rename(secret, passwordFile(fresh));
  await rename(fresh, folder);
}

async function give(home: PostgresHome, file: string): Promise<void> {
  if (home.runAs !== null) await chown(file, home.runAs.uid, home.runAs.gid);
}

async function initdb({ home, binaries }: Installation, folder: string, secret: string, sync: boolean): Promise<void> {
  const args = ['-D', folder, '-U', DATABASE_USER, '--auth=scram-sha-256', `--pwfile=${secret}`, '--encoding=UTF8'];
  // Sort order and case rules come from Unicode, and are the same on every system, whatever locales it has.
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions');
  if (!sync) args.push('--no-sync');
  try {
    await exec(binaries.initdb, args, { cwd: home.folder, env: PLAIN_ENV, ...home.runAs });
  } catch (error) {
    throw new ServiceError('postgres_failed', `initdb failed: ${outputOf(error)}`);
  }
}

function outputOf(error: unknown): string {
  if (error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' && error.stderr !== '') {
    return error.stderr.trim();
  }
  return String(error);
}

async function clearUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('data.new-')) await rm(path.join(folder, name), { recursive: true, force: true });
  }
}
