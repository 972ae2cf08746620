// PostgreSQL for a laptop: a separate server from the binaries in npm packages. It listens only on 127.0.0.1, on a
// random port, and requires a password that only the owner of the data can read. Invariants: there is one server per
// data directory; the server ends when Nightshift ends, however it ends; and the next start works whatever an earlier
// run left behind (a partial cluster, a stale pid file, an orphaned server).
import { open, readFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder, type FolderLock } from './folder-lock.ts';
import { freePort } from './free-port.ts';
import { prepareHome, type PostgresHome } from './postgres-account.ts';
import { findBinaries } from './postgres-binaries.ts';
import { DATABASE_USER, PLAIN_ENV, openCluster, type Cluster, type Installation } from './postgres-cluster.ts';
import { isReady, pidFileOf, stopOrphan } from './postgres-pid-file.ts';
import { ServiceError, systemCode } from './service-error.ts';
import { startWatched, type WatchedProcess } from './watched-process.ts';

interface EmbeddedPostgresOptions {
  dataDir: string;
  log?: (line: string) => void;
  /** Server settings, as in postgresql.conf. With `fsync: 'off'` the cluster is also created without syncing. */
  settings?: Record<string, string>;
  /** A fixed port; by default a random one. */
  port?: number;
}

export interface EmbeddedPostgres {
  url: string;
  version: string;
  pid: number;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;
const LOCK_WAIT_MS = 2_000;
const LOG_LIMIT = 5_000_000;
const TRIES = 10;
/** Fast shutdown first: open transactions are rolled back. Committed data is safe in any case. */
const SHUTDOWN: [NodeJS.Signals, number][] = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
];

/**
 * Starts the server and waits until it accepts connections. Rejects with a `ServiceError` that tells the user what to
 * do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  const log = options.log ?? (() => {});
  try {
    const home = await prepareHome(dataDir);
    const lock = await lockFolder(path.join(dataDir, 'lock'), { waitMs: LOCK_WAIT_MS, log });
    try {
      return await startLocked(dataDir, home, lock, { ...options, log });
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    throw systemCode(error) === 'EACCES' ? notOurs(dataDir, error) : error;
  }
}

async function startLocked(
  dataDir: string,
  home: PostgresHome,
  lock: FolderLock,
  options: EmbeddedPostgresOptions & { log: (line: string) => void },
): Promise<EmbeddedPostgres> {
  const { log } = options;
  const installation = { home, binaries: await findBinaries(home) };
  const cluster = await openCluster(installation, { sync: options.settings?.['fsync'] !== 'off', log });
  await stopOrphan(cluster.folder, log);
  const server = await startServer(dataDir, installation, cluster, options);
  const stop = async (): Promise<void> => {
    await server.process.end(SHUTDOWN);
    await lock.release();
  };
  let stopped: Promise<void> | undefined;
  void server.process.ended.then((how) => stopped ?? log(`PostgreSQL ended unexpectedly (${how})`));
  return {
    url: `postgres://${DATABASE_USER}:${cluster.password}@127.0.0.1:${server.port}/postgres`,
    version: installation.binaries.version,
    pid: server.process.pid,
    stop: () => (stopped ??= stop()),
  };
}

function notOurs(dataDir: string, error: unknown): ServiceError {
  return new ServiceError(
    'not_ours',
    `The folder ${dataDir} belongs to another user (${String(error)}). Start Nightshift as that user, or set ` +
      'NIGHTSHIFT_DATA to another folder.',
  );
}

interface Server {
  process: WatchedProcess;
  port: number;
}

/** Starts the server. Tries again if its port was taken meanwhile, or an earlier server is still shutting down. */
async function startServer(
  dataDir: string,
  { home, binaries }: Installation,
  cluster: Cluster,
  options: EmbeddedPostgresOptions,
): Promise<Server> {
  let said = '';
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = options.port ?? (await freePort());
    const output = await openLog(path.join(dataDir, 'postgres.log'));
    const process = await startWatched({
      program: binaries.postgres,
      args: ['-D', cluster.folder, ...flags(port, options.settings)],
      cwd: home.folder,
      env: PLAIN_ENV,
      pidFile: pidFileOf(cluster.folder),
      signal: 'INT',
      stdin: 'ignore',
      output: output.handle.fd,
      runAs: home.runAs,
    });
    await output.handle.close();
    if (await becomesReady(cluster.folder, process)) return { process, port };
    said = (await readFile(output.file)).subarray(output.start).toString('utf8').trim();
    if (!/Address already in use|is still in use|shared memory block/.test(said)) break;
    await sleep(300);
  }
  throw new ServiceError('postgres_failed', `PostgreSQL did not start. Its output:\n${said}`);
}

function flags(port: number, settings: Record<string, string> = {}): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    log_checkpoints: 'off',
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Waits until the server accepts connections; false if it ended instead. */
async function becomesReady(folder: string, server: WatchedProcess): Promise<boolean> {
  const giveUp = performance.now() + READY_WITHIN_MS;
  while (!server.hasEnded()) {
    if (await isReady(folder, server.pid)) return true;
    if (performance.now() > giveUp)
      await server.end([
        ['SIGQUIT', 5_000],
        ['SIGKILL', 5_000],
      ]);
    await sleep(5);
  }
  return false;
}

/** Opens the server's log at its end, or empties it first if it has grown too large. */
async function openLog(file: string): Promise<{ file: string; handle: FileHandle; start: number }> {
  const handle = await open(file, 'a', 0o600);
  const { size } = await handle.stat();
  if (size <= LOG_LIMIT) return { file, handle, start: size };
  await handle.truncate();
  return { file, handle, start: 0 };
}
