// The platform as `npm start` runs it, API and worker in one process of its own, on a database of its own on the run's services;
// and a client to set the stage with. It can be killed, and comes back at the same address.
import path from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import type { Client } from '../../src/client/index.ts';
import { freePort } from '../../src/dev/free-port.ts';
import { killChildren, startChild } from '../e2e/children.ts';
import type { Child } from '../e2e/children.ts';
import { createTestDatabase } from '../services/database.ts';
import type { TestDatabase } from '../services/database.ts';
import { testPrefix } from '../services/prefix.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { findChromium } from './chromium.ts';

export type ConsolePlatform = {
  url: string;
  /** A file of this platform's own: the outside world of its tools. */
  outside: string;
  client: Client;
  /** At once, without a word. */
  kill: () => Promise<void>;
  /** Where it was killed: at the same address, on the same data. */
  restart: () => Promise<void>;
};

type Options = {
  /** The key that the API asks for; without one it asks for none. */
  apiKey?: string;
  env?: Record<string, string>;
};

/** One platform for the tests of a file. Where there is no browser nothing is started. */
export function usePlatform({ apiKey, env = {} }: Options = {}): () => ConsolePlatform {
  let platform: (ConsolePlatform & { end(): Promise<void> }) | null = null;
  beforeAll(async () => {
    if (findChromium() !== null) platform = await startPlatform(apiKey, env);
  });
  afterAll(() => platform?.end());
  return () => {
    if (platform === null) throw new Error('the platform was not started');
    return platform;
  };
}

async function startPlatform(apiKey: string | undefined, more: Record<string, string>) {
  const database = await createTestDatabase();
  const folder = await temporaryFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const outside = path.join(folder, 'outside');
  const env = environment(database, folder, { PORT: String(port), OUTSIDE: outside, ...more });
  if (apiKey !== undefined) env['NIGHTSHIFT_API_KEYS'] = `${apiKey}:house`;
  let child = await start(env);
  return {
    url,
    outside,
    client: createClient({ url, ...(apiKey === undefined ? {} : { apiKey }) }),
    kill: () => ended(child, 'SIGKILL'),
    async restart() {
      child = await start(env);
    },
    async end() {
      if (child.ended() === null) await ended(child, 'SIGTERM');
      await killChildren();
      await database.drop();
      await removeFolder(folder);
    },
  };
}

function environment(
  { url }: TestDatabase,
  folder: string,
  more: Record<string, string>,
): Record<string, string> {
  const redisUrl = inject('redisUrl');
  return {
    DATABASE_URL: url,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, ''),
    NIGHTSHIFT_DATA: folder,
    NIGHTSHIFT_CONFIG: path.join(import.meta.dirname, 'console.config.ts'),
    NIGHTSHIFT_TOUR: 'off',
    ...more,
  };
}

async function start(env: Record<string, string>): Promise<Child> {
  const child = startChild('src/cli/main.ts', ['start'], env);
  await child.says(/is ready at/);
  return child;
}

async function ended(child: Child, signal: NodeJS.Signals): Promise<void> {
  child.signal(signal);
  await child.exited;
}
