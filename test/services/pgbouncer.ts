// A PgBouncer of one's own, from PATH, with the file that the documentation shows.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '../../src/dev/free-port.ts';
import { blocksOf } from '../docs/blocks.ts';
import { depth } from './depth.ts';
import { removeFolder, temporaryFolder } from './temporary-folder.ts';

/** The first version that knows prepared statements. */
const OLDEST = [1, 21] as const;

/** Why there is none that can be used; null: there is one. Rejects with it at full depth in CI, where nothing is skipped. */
export async function pgBouncerMissing(): Promise<string | null> {
  const reason = await reasonMissing();
  if (reason !== null && depth(false, process.env['CI'] !== undefined)) throw new Error(reason);
  return reason;
}

async function reasonMissing(): Promise<string | null> {
  const asked = promisify(execFile)('pgbouncer', ['--version']);
  const said = await asked.then(({ stdout }) => stdout).catch(() => null);
  if (said === null) return 'there is no pgbouncer in PATH';
  const [, major = 0, minor = 0] = (/PgBouncer (\d+)\.(\d+)/.exec(said) ?? []).map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  return isOld ? `pgbouncer is ${major}.${minor}, and ${OLDEST.join('.')} or newer is needed` : null;
}

/** `pgbouncer.ini` of docs/deploy.md. */
export const DOCUMENTED_INI = blocksOf('docs/deploy.md').find(({ text }) => text.includes('[pgbouncer]'))?.text ?? '';

export type PgBouncer = {
  /** The URL of an entry of `[databases]`, with the login of `from`. */
  urlOf(entry: string, from: string): string;
  stop(): Promise<void>;
  /** After `stop`, on the same port. */
  start(): Promise<void>;
  remove(): Promise<void>;
};

/**
 * `ini`: as it is documented, or changed; the address of the server is put into it. `server`: the URL of the database
 * behind it. `logins`: URLs with the names and passwords that it accepts.
 */
export async function startPgBouncer(ini: string, server: string, logins: readonly string[]): Promise<PgBouncer> {
  const folder = await temporaryFolder();
  const [file, users] = ['pgbouncer.ini', 'userlist.txt'].map((name) => path.join(folder, name));
  if (file === undefined || users === undefined) throw new Error('two files');
  const port = String(await freePort());
  const { hostname, port: serverPort, pathname } = new URL(server);
  const place = `host=${hostname} port=${serverPort || '5432'} dbname=${pathname.slice(1)}`;
  const own = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_file: users,
    // It refuses to run as root.
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
  };
  const settings = Object.entries(own).map(([name, value]) => `${name} = ${value}`);
  await writeFile(file, [ini.replaceAll(/host=\S+ dbname=\S+/g, place), ...settings, ''].join('\n'));
  const accepted = logins.map((login) => new URL(login));
  const lines = accepted.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(users, lines.join(''));
  let stop = await startProcess(file);
  return {
    urlOf: (entry, from) => Object.assign(new URL(from), { hostname: '127.0.0.1', port, pathname: `/${entry}` }).href,
    stop: () => stop(),
    async start() {
      stop = await startProcess(file);
    },
    async remove() {
      await stop();
      await removeFolder(folder);
    },
  };
}

/** Returns what stops it. */
async function startProcess(file: string): Promise<() => Promise<void>> {
  const child = spawn('pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      if (line.includes('process up')) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`pgbouncer ended (${code}):\n${said.join('\n')}`)));
  });
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    await ended;
  };
}
