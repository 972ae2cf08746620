// Chooses the account that PostgreSQL runs under, and a place for its files that this account can reach. PostgreSQL
// refuses to run as root. So if Nightshift runs as root, PostgreSQL runs as the owner of an existing cluster, else as
// `nobody`. If that account cannot enter the data folder (for example of a clone below /root), the files are in
// /var/lib/nightshift, and a link in the data folder points to them.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startOf } from './process-identity.ts';
import { ServiceError, systemCode } from './service-error.ts';

interface Account {
  uid: number;
  gid: number;
}

export interface PostgresHome {
  /** The folder that holds the cluster (`data`) and, where needed, a copy of the binaries. */
  folder: string;
  /** The account to start PostgreSQL under; null: the current one. */
  runAs: Account | null;
}

const SYSTEM_PLACE = '/var/lib/nightshift';

export async function prepareHome(dataDir: string): Promise<PostgresHome> {
  await mkdir(dataDir, { recursive: true });
  if (process.getuid?.() !== 0) return { folder: dataDir, runAs: null };
  const link = path.join(dataDir, 'elsewhere');
  const elsewhere = await targetOf(link);
  if (elsewhere !== null) return { folder: elsewhere, runAs: await accountFor(elsewhere) };
  const runAs = await accountFor(dataDir);
  if (canReach(dataDir, runAs)) return { folder: dataDir, runAs };
  return { folder: await settleElsewhere(link), runAs };
}

/** Whether the account can enter a folder. This asks the system, because mode bits do not decide alone. */
export function canReach(folder: string, account: Account): boolean {
  const asked = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    cwd: '/',
    stdio: 'ignore',
    ...account,
  });
  return asked.status === 0;
}

async function accountFor(folder: string): Promise<Account> {
  const owner = await stat(path.join(folder, 'data')).catch(() => null);
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function idOf(flag: '-u' | '-g'): number {
  const { stdout } = spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' });
  const id = Number.parseInt(stdout ?? '', 10);
  if (Number.isInteger(id)) return id;
  throw new ServiceError(
    'no_place_for_data',
    'PostgreSQL does not run as root, and this system has no account "nobody" to run it under. ' +
      'Start Nightshift as another user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

async function settleElsewhere(link: string): Promise<string> {
  const folder = path.join(SYSTEM_PLACE, randomBytes(8).toString('hex'));
  try {
    await mkdir(SYSTEM_PLACE, { recursive: true });
    await chmod(SYSTEM_PLACE, 0o755);
    await clearAbandoned();
    await mkdir(folder);
    await chmod(folder, 0o755);
    await writeFile(path.join(folder, 'belongs-to'), link);
    await rm(link, { force: true });
    await symlink(folder, link);
  } catch (error) {
    throw new ServiceError(
      'no_place_for_data',
      `PostgreSQL does not run as root, and the account "nobody" can enter neither ${path.dirname(link)} ` +
        `nor a folder in ${SYSTEM_PLACE} (${String(error)}). Set NIGHTSHIFT_DATA to a folder that every user can ` +
        'enter, start Nightshift as another user, or set DATABASE_URL to a PostgreSQL server.',
    );
  }
  return folder;
}

/** Removes clusters whose data folder was deleted: no link points to them any more. */
async function clearAbandoned(): Promise<void> {
  for (const name of await readdir(SYSTEM_PLACE)) {
    const folder = path.join(SYSTEM_PLACE, name);
    const link = await readFile(path.join(folder, 'belongs-to'), 'utf8').catch(() => null);
    if (link === null || (await targetOf(link)) === folder) continue;
    const pid = await readFile(path.join(folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
    if (pid === '' || (await startOf(Number.parseInt(pid, 10))) === null) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function targetOf(link: string): Promise<string | null> {
  try {
    const target = await readlink(link);
    await stat(target);
    return target;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'EINVAL') return null;
    throw error;
  }
}
