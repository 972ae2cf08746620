// Redis for a laptop: a `redis-server` or `valkey-server` from PATH that runs as long as Nightshift does. It writes
// nothing to disk (PostgreSQL has all data), listens only on 127.0.0.1, and requires a random password. It gets the
// password by standard input, so that no list of processes shows it.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { ServiceError } from './service-error.ts';
import { startWatched, type WatchedProcess } from './watched-process.ts';

interface LocalRedisOptions {
  /** A folder for its pid file. */
  dir: string;
  log?: (line: string) => void;
  /** A fixed port and password; by default random ones. */
  port?: number;
  password?: string;
}

export interface LocalRedis {
  url: string;
  /** The path of the running program. */
  program: string;
  version: string;
  pid: number;
  stop(): Promise<void>;
}

const exec = promisify(execFile);
const READY_WITHIN_MS = 10_000;
const TRIES = 5;
/** The oldest release that BullMQ works with in full. */
const OLDEST = [6, 2] as const;

/** Starts a Redis server and waits until it answers; null if PATH has none that is new enough. */
export async function startLocalRedis(options: LocalRedisOptions): Promise<LocalRedis | null> {
  const log = options.log ?? (() => {});
  const found = await findProgram(log);
  if (found === null) return null;
  const dir = path.resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const password = options.password ?? randomBytes(24).toString('base64url');
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const started = await startServer(found.program, dir, port, password);
    if (started.ready) return running(found, started.server, `redis://:${password}@127.0.0.1:${port}`, log);
    if (attempt === TRIES || !started.said.includes('in use')) {
      throw new ServiceError('redis_failed', `${found.program} did not start. Its output:\n${started.said}`);
    }
  }
}

function running(found: Program, server: WatchedProcess, url: string, log: (line: string) => void): LocalRedis {
  let stopped: Promise<void> | undefined;
  void server.ended.then((how) => stopped ?? log(`Redis ended unexpectedly (${how})`));
  return {
    url,
    program: found.program,
    version: found.version,
    pid: server.pid,
    stop: () =>
      (stopped ??= server.end([
        ['SIGTERM', 5_000],
        ['SIGKILL', 5_000],
      ])),
  };
}

interface Program {
  program: string;
  version: string;
}

async function findProgram(log: (line: string) => void): Promise<Program | null> {
  for (const name of ['redis-server', 'valkey-server']) {
    const program = await onPath(name);
    if (program === null) continue;
    const version = await versionOf(program);
    if (isNewEnough(version)) return { program, version };
    log(`${program} is not used: its version is ${version || 'unknown'}, and ${OLDEST.join('.')} or newer is needed`);
  }
  return null;
}

async function onPath(name: string): Promise<string | null> {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    if (!path.isAbsolute(file)) continue;
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
  }
  return null;
}

async function versionOf(program: string): Promise<string> {
  try {
    const { stdout } = await exec(program, ['--version']);
    return /\bv=([\d.]+)/.exec(stdout)?.[1] ?? '';
  } catch {
    return '';
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

type Started = { ready: true; server: WatchedProcess } | { ready: false; said: string };

async function startServer(program: string, dir: string, port: number, password: string): Promise<Started> {
  const pidFile = path.join(dir, 'redis.pid');
  const server = await startWatched({
    program,
    args: ['-'],
    cwd: dir,
    env: process.env,
    pidFile,
    signal: 'TERM',
    stdin: 'pipe',
    output: 'pipe',
    runAs: null,
  });
  let said = '';
  const keep = (chunk: Buffer): void => {
    said = (said + chunk.toString('utf8')).slice(-4_000);
  };
  server.child.stdout?.on('data', keep);
  server.child.stderr?.on('data', keep);
  server.child.stdin?.on('error', () => {});
  server.child.stdin?.end(configuration(pidFile, port, password));
  const giveUp = performance.now() + READY_WITHIN_MS;
  while (!server.hasEnded()) {
    if (await answers(port, password)) return { ready: true, server };
    if (performance.now() > giveUp) await server.end([['SIGKILL', 5_000]]);
    await sleep(10);
  }
  return { ready: false, said };
}

function configuration(pidFile: string, port: number, password: string): string {
  return [
    'bind 127.0.0.1',
    'protected-mode yes',
    `port ${port}`,
    `requirepass ${password}`,
    'save ""',
    'appendonly no',
    'maxmemory-policy noeviction',
    'daemonize no',
    `pidfile ${quoted(pidFile)}`,
    '',
  ].join('\n');
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

/** Whether the server on this port accepts the password and answers. Another program on the port would not. */
async function answers(port: number, password: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: '127.0.0.1', port });
  socket.setTimeout(1_000, () => resolve(false));
  socket.once('error', () => resolve(false));
  socket.once('close', () => resolve(false));
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('utf8');
    if (received.includes('+PONG')) resolve(true);
    else if (received.includes('-')) resolve(false);
  });
  socket.write(`AUTH ${password}\r\nPING\r\n`);
  const answered = await promise;
  socket.destroy();
  return answered;
}
