// Folders of a test run, which other accounts can pass through (PostgreSQL does not run as root). The name contains the
// owner's process, so that a later run can delete those of a killed one.
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startOf } from '../../src/dev/process-identity.ts';

const PREFIX = 'nightshift-test-';

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
  await chmod(folder, 0o755);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Deletes folders of processes that are gone. */
export async function removeOldFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = pidIn(name);
    if (pid === null || (await startOf(pid)) !== null) continue;
    await removeFolder(path.join(tmpdir(), name)).catch(() => {});
  }
}

/** Null: it is no folder of a test run, though its name may begin like one, and with digits. */
function pidIn(name: string): number | null {
  const [, pid] = name.startsWith(PREFIX) ? (/^(\d+)-/.exec(name.slice(PREFIX.length)) ?? []) : [];
  return pid === undefined ? null : Number(pid);
}
