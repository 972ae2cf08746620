// PostgreSQL's record of the server that uses a data directory (`postmaster.pid`), and what to do about one that an
// earlier start left behind. A server that lost its parent is stopped. A record that names no server of this directory
// is removed: PostgreSQL would take any process with that pid (even a zombie) for a server, and refuse to start.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, startOf } from './process-identity.ts';
import { ServiceError, systemCode } from './service-error.ts';

export const pidFileOf = (folder: string): string => path.join(folder, 'postmaster.pid');

/** Whether the server with this pid reports that it accepts connections. */
export async function isReady(folder: string, pid: number): Promise<boolean> {
  const lines = await linesOf(folder);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** Stops the server of the data directory, if one still runs. The caller must have the folder's lock. */
export async function stopOrphan(folder: string, log: (line: string) => void): Promise<void> {
  const pid = Number((await linesOf(folder))[0]);
  if (!(await isServer(pid, folder))) {
    // Safe: PostgreSQL detects remaining processes of a killed server by their shared memory.
    await rm(pidFileOf(folder), { force: true });
    return;
  }
  log(`stopping the PostgreSQL server that an earlier run left behind (process ${pid})`);
  for (const [signal, seconds] of [
    ['SIGINT', 15],
    ['SIGQUIT', 5],
    ['SIGKILL', 5],
  ] as const) {
    send(pid, signal);
    if (await gone(pid, seconds)) return;
  }
  throw new ServiceError(
    'postgres_failed',
    `The PostgreSQL server of an earlier run (process ${pid}) does not end. Stop it, then start Nightshift again.`,
  );
}

async function isServer(pid: number, folder: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1 || (await startOf(pid)) === null) return false;
  return (await commandOf(pid))?.includes(`-D ${folder}`) === true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

async function gone(pid: number, seconds: number): Promise<boolean> {
  for (let waited = 0; waited < seconds * 1000; waited += 20) {
    if ((await startOf(pid)) === null) return true;
    await sleep(20);
  }
  return false;
}

async function linesOf(folder: string): Promise<string[]> {
  try {
    return (await readFile(pidFileOf(folder), 'utf8')).split('\n');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
