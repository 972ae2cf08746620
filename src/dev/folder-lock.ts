// Lets one process at a time use a folder. The lock is a file that names its owner. It appears complete (by `link`),
// and the lock of a process that has ended is taken over, so that no file has to be removed by hand after a crash.
import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './process-identity.ts';
import { ServiceError, systemCode } from './service-error.ts';

export interface FolderLock {
  release(): Promise<void>;
}

interface Holder {
  pid: number;
  started: string | null;
}

/** Takes the lock. Waits up to `waitMs` for its current owner to end. */
export async function lockFolder(
  file: string,
  options: { waitMs: number; log: (line: string) => void },
): Promise<FolderLock> {
  const me = `${process.pid} ${await startOf(process.pid)}`;
  const mine = `${file}.${randomBytes(6).toString('hex')}`;
  const giveUp = performance.now() + options.waitMs;
  await writeFile(mine, me, { flag: 'wx', mode: 0o644 });
  try {
    for (let said = false; !(await placed(mine, file));) {
      const text = await textOf(file);
      if (text === null) continue;
      const holder = await liveHolder(text);
      if (holder === null) {
        await clear(mine, file, text);
        continue;
      }
      if (performance.now() >= giveUp) throw inUse(file, holder);
      if (!said) options.log(`process ${holder.pid} is using this folder; waiting for it to end`);
      said = true;
      await sleep(100);
    }
  } finally {
    await rm(mine, { force: true });
  }
  return { release: () => releaseIfMine(file, me) };
}

/** Puts the file in place unless another one exists there. */
async function placed(mine: string, file: string): Promise<boolean> {
  try {
    await link(mine, file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The process that a lock's text names; null if it has ended. */
async function liveHolder(text: string): Promise<Holder | null> {
  const holder = parse(text);
  return holder.started !== null && (await startOf(holder.pid)) === holder.started ? holder : null;
}

/**
 * Removes the lock of a process that has ended. Several processes may find it at once, and one of them may have put its
 * own lock there by the time another one acts. So a process first takes a claim on this exact text, and reads the lock
 * again before it removes it.
 */
async function clear(mine: string, file: string, stale: string): Promise<void> {
  const claim = `${file}.${createHash('sha256').update(stale).digest('hex').slice(0, 12)}`;
  if (!(await placed(mine, claim))) {
    const claimant = await textOf(claim);
    if (claimant !== null && (await liveHolder(claimant)) === null) await rm(claim, { force: true });
    await sleep(5);
    return;
  }
  try {
    if ((await textOf(file)) === stale) await rm(file, { force: true });
  } finally {
    await rm(claim, { force: true });
  }
}

async function releaseIfMine(file: string, me: string): Promise<void> {
  if ((await textOf(file)) === me) await rm(file, { force: true });
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function parse(text: string): Holder {
  const [pid = '', started = ''] = text.split(' ');
  return {
    pid: Number(pid),
    started: started === '' || started === 'null' ? null : text.slice(pid.length + 1),
  };
}

function inUse(file: string, holder: Holder): ServiceError {
  return new ServiceError(
    'folder_in_use',
    `Nightshift is already running in this folder, as process ${holder.pid} (${file}). ` +
      'Stop it first, or set NIGHTSHIFT_DATA to another folder.',
  );
}
