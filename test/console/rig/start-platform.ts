// The platform as `npm start` runs it: API and worker in one process, on a database of its own on the run's services. It can be
// killed and started again at the same address.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../../src/dev/free-port.ts';
import { startChild, type Child } from '../../e2e/rig/children.ts';
import { createFreshDatabase, type DatabaseServer } from '../../services/database.ts';
import { testPrefix } from '../../services/prefix.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';

/** `redisUrl`: null where the run has no Redis. */
export type Services = DatabaseServer & { redisUrl: string | null };

export type RunningPlatform = {
  url: string;
  /** Contains one file for each context: the effects of its tools. */
  effects: string;
  /** With SIGKILL. */
  kill: () => Promise<void>;
  /** After `kill`: at the same address, on the same data. */
  restart: () => Promise<void>;
  end: () => Promise<void>;
};

export async function startPlatform(services: Services, more: Record<string, string> = {}): Promise<RunningPlatform> {
  const database = await createFreshDatabase(services);
  const folder = await temporaryFolder();
  const effects = path.join(folder, 'effects');
  await mkdir(effects);
  const port = Number(more['PORT'] ?? (await freePort()));
  const env = {
    DATABASE_URL: database.url,
    ...(services.redisUrl === null ? {} : { REDIS_URL: services.redisUrl }),
    NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, ''),
    NIGHTSHIFT_DATA: folder,
    NIGHTSHIFT_CONFIG: path.join(import.meta.dirname, 'console.config.ts'),
    NIGHTSHIFT_TOUR: 'off',
    PORT: String(port),
    EFFECTS: effects,
    ...more,
  };
  let child = await start(env);
  return {
    url: `http://127.0.0.1:${port}`,
    effects,
    kill: () => stop(child, 'SIGKILL'),
    async restart() {
      child = await start(env);
    },
    async end() {
      if (child.ended() === null) await stop(child, 'SIGTERM');
      await database.drop();
      await removeFolder(folder);
    },
  };
}

/** The effects of the tools of a context, one line for each. */
export async function effectsOf({ effects }: { effects: string }, contextId: string): Promise<string[]> {
  const text = await readFile(path.join(effects, contextId), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

async function start(env: Record<string, string>): Promise<Child> {
  const child = startChild('src/cli/main.ts', ['start'], env);
  await child.says(/is ready at/);
  return child;
}

async function stop(child: Child, signal: NodeJS.Signals): Promise<void> {
  child.signal(signal);
  await child.exited;
}
