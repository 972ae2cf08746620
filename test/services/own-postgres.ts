// A PostgreSQL of one's own, for tests that stop, kill or pause it. Its URL is a superuser's; it has no schema.
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { inject } from 'vitest';
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres.ts';
import { freePort } from '../../src/dev/free-port.ts';
import { systemCode } from '../../src/dev/service-error.ts';
import { TEST_SETTINGS, startPostgresContainer } from './containers.ts';
import { ownContainer, type OwnService } from './own-service.ts';
import { removeFolder, temporaryFolder } from './temporary-folder.ts';

/** In a container where the run uses containers, else embedded. */
export async function startOwnPostgres(): Promise<OwnService> {
  if (inject('serviceContainers') === null) return embedded();
  return ownContainer(
    await startPostgresContainer(inject('testRun'), { port: await freePort() }),
    untilPostgresAnswers,
  );
}

export async function untilPostgresAnswers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (await postgresAnswers(url)) return;
    await sleep(50);
  }
  throw new Error('PostgreSQL does not answer');
}

async function postgresAnswers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 2 });
  try {
    await sql`SELECT 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function embedded(): Promise<OwnService> {
  const folder = await temporaryFolder();
  const options = {
    dataDir: path.join(folder, 'postgres'),
    settings: { ...TEST_SETTINGS },
    port: await freePort(),
  };
  let server = await startEmbeddedPostgres(options);
  return {
    url: server.url,
    stop: () => server.stop(),
    async kill() {
      await signalAll(server.pid, 'SIGKILL');
      await server.stop();
    },
    async start() {
      server = await startEmbeddedPostgres(options);
    },
    async pause() {
      // Itself first: it must not accept one more connection while its children are searched.
      process.kill(server.pid, 'SIGSTOP');
      await signalAll(server.pid, 'SIGSTOP');
    },
    resume: () => signalAll(server.pid, 'SIGCONT'),
    async remove() {
      await server.stop();
      await removeFolder(folder);
    },
  };
}

/** The server and its connections' processes, which are its children. */
async function signalAll(pid: number, signal: NodeJS.Signals): Promise<void> {
  for (const one of [pid, ...(await childrenOf(pid))]) {
    try {
      process.kill(one, signal);
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return pids.filter((_, at) => stats[at]?.split(') ')[1]?.split(' ')[1] === String(parent));
}
