// The real embedded PostgreSQL: every way to start, stop, kill and restart it.
import { spawn, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/dev/embedded-postgres.ts';
import { canReach } from '../../src/dev/postgres-account.ts';
import { commandOf } from '../../src/dev/process-identity.ts';
import { rowsOf } from '../services/connected.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { runChild, untilGone } from './run-child.ts';

const isRoot = process.getuid?.() === 0;
const settings = { fsync: 'off' };
let folder = '';
let dataDir = '';
let running: EmbeddedPostgres[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = path.join(folder, 'a folder', 'postgres');
});

afterEach(async () => {
  for (const server of running) await server.stop();
  running = [];
  await removeFolder(folder);
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, settings });
  running.push(server);
  return server;
}

const query = (url: string, text: string) => rowsOf(url, text, { connectTimeoutS: 5 });

describe('a new folder', () => {
  test('contains a cluster that answers, in UTF-8, and keeps its data over a restart', async () => {
    const first = await start();
    await query(first.url, `CREATE TABLE kept AS SELECT 'Ä🦉' AS word`);
    await first.stop();
    const second = await start();
    expect(await query(second.url, 'SELECT word, lower(word) AS low FROM kept')).toEqual([{ word: 'Ä🦉', low: 'ä🦉' }]);
    expect(second.version).toMatch(/^18\./);
  });

  test('is closed to every user without the password, which only the owner can read', async () => {
    const { url } = await start();
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    wrong.password = '';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow();
    const data = path.join(dataDir, 'data');
    expect((await stat(data)).mode & 0o077).toBe(0);
    expect((await stat(path.join(data, 'nightshift-password'))).mode & 0o077).toBe(0);
    expect((await stat(path.join(dataDir, 'postgres.log'))).mode & 0o077).toBe(0);
  });

  test('is refused to a second start, which names the process that uses it', async () => {
    await start();
    await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toMatchObject({
      code: 'folder_in_use',
      message: expect.stringContaining(`process ${process.pid}`),
    });
  });

  test('is given to one of many simultaneous starts', async () => {
    const starts = await Promise.allSettled([start(), start(), start(), start()]);
    expect(starts.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
  });
});

describe('after a kill', () => {
  test('the server ends with the process that started it, and the next start has the data', async () => {
    const child = await runChild('postgres', dataDir);
    await query(child.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    await child.end('SIGKILL');
    await untilGone(child.servicePid);
    expect(await query((await start()).url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  test('a start at the same time as the kill works too', async () => {
    const child = await runChild('postgres', dataDir);
    await child.end('SIGKILL');
    expect(await query((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('an orphan whose watcher was killed as well is stopped by the next start', async () => {
    const child = await runChild('postgres', dataDir);
    for (const pid of await watchersOf(dataDir)) process.kill(pid, 'SIGKILL');
    await child.end('SIGKILL');
    process.kill(child.servicePid, 0);
    const next = await start();
    expect(next.pid).not.toBe(child.servicePid);
    await untilGone(child.servicePid);
  });

  test('of the server itself, its stale pid file does not stop the next start', async () => {
    const child = await runChild('postgres', dataDir);
    process.kill(child.servicePid, 'SIGKILL');
    await child.end('SIGKILL');
    expect(await query((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('a pid file whose pid now belongs to another program is ignored', async () => {
    await (await start()).stop();
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    const file = path.join(dataDir, 'data', 'postmaster.pid');
    await writeFile(file, `${other.pid}\n${path.join(dataDir, 'data')}\n1\n5432\n\n\n\nready\n`);
    expect(await query((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(other.exitCode).toBeNull();
    other.kill();
  });

  test('while the cluster is being made, nothing broken is left', async () => {
    await mkdir(path.join(dataDir, 'data.new-0123'), { recursive: true });
    await writeFile(path.join(dataDir, 'data.new-0123', 'PG_VERSION'), '18\n');
    await start();
    expect(await readdir(dataDir)).toEqual(['data', 'lock', 'postgres.log']);
  });
});

describe('settings', () => {
  test('that PostgreSQL refuses fail the start with its message', async () => {
    const failing = startEmbeddedPostgres({ dataDir, settings: { ...settings, max_connections: 'many' } });
    await expect(failing).rejects.toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('max_connections'),
    });
  });
});

const otherUser = { uid: idOf('-u'), gid: idOf('-g') };

describe.runIf(isRoot)('as root', () => {
  test('the server runs under another account', async () => {
    const server = await start();
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(otherUser.uid);
  });

  test('a folder that this account cannot enter gets its data elsewhere, and keeps it', async () => {
    await chmod(folder, 0o700);
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    await first.stop();
    const elsewhere = await readlink(path.join(dataDir, 'elsewhere'));
    expect(await query((await start()).url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    await running.at(-1)?.stop();
    await rm(dataDir, { recursive: true });
    await start();
    await expect(stat(elsewhere)).rejects.toThrow(/ENOENT/);
    await running.at(-1)?.stop();
    await rm(await readlink(path.join(dataDir, 'elsewhere')), { recursive: true });
  });

  test.runIf(canReach(import.meta.dirname, otherUser))(
    'another user can start one too, and root can then continue with it',
    async () => {
      await mkdir(dataDir, { recursive: true });
      await chown(dataDir, otherUser.uid, otherUser.gid);
      const child = await runChild('postgres', dataDir, otherUser);
      await query(child.url, 'CREATE TABLE kept AS SELECT 1 AS one');
      await child.end('SIGTERM');
      expect(await query((await start()).url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    },
  );

  test.runIf(canReach(import.meta.dirname, otherUser))("another user cannot start on root's folder", async () => {
    await (await start()).stop();
    await expect(runChild('postgres', dataDir, otherUser)).rejects.toThrow('the child ended');
  });
});

function idOf(flag: string): number {
  return Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
}

/** The watchers of the servers on this folder: shells whose command line names its pid file. */
async function watchersOf(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid));
  const commands = await Promise.all(pids.map((pid) => commandOf(pid)));
  return pids.filter((_, at) => commands[at]?.includes(path.join(dir, 'data', 'postmaster.pid')));
}
