// Folders of a test run, which other accounts can pass through (PostgreSQL does not run as root). The name says
// whose they are, so that a later run can remove what a killed one left.
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

/** Removes folders of processes that are gone. */
export async function removeOldFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || (await startOf(pid)) !== null) continue;
    await removeFolder(path.join(tmpdir(), name)).catch(() => {});
  }
}
