// Starts the services of a test run, as chosen.
import path from 'node:path';
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres.ts';
import { startLocalRedis } from '../../src/dev/local-redis.ts';
import { chooseServices, type Choice } from './choose.ts';
import {
  IN_MEMORY,
  TEST_SETTINGS,
  nameRun,
  removeContainersOf,
  removeLeftovers,
  startPostgresContainer,
  startRedisContainer,
} from './containers.ts';
import { dropDatabasesOf } from './database.ts';
import { makeLogins } from './logins.ts';
import type { ServiceContainers } from './provided.ts';
import { removeFolder, removeOldFolders, temporaryFolder } from './temporary-folder.ts';

export interface TestServices {
  run: string;
  databaseUrl: string;
  redisUrl: string | null;
  containers: ServiceContainers | null;
  /** One line that describes the choice. */
  line: string;
  stop(): Promise<void>;
}

export async function startTestServices(say: (line: string) => void): Promise<TestServices> {
  const run = await nameRun();
  const choice = await chooseServices(process.env, say);
  await removeOldFolders();
  const services = await start(choice, run);
  try {
    await makeLogins(services.databaseUrl);
  } catch (error) {
    await services.stop();
    throw error;
  }
  return services;
}

async function start(choice: Choice, run: string): Promise<TestServices> {
  switch (choice.kind) {
    case 'url':
      return fromEnvironment(run);
    case 'containers':
      return inContainers(run);
    case 'embedded':
      return embedded(run, choice.redis, choice.why);
  }
}

function fromEnvironment(run: string): TestServices {
  const redisUrl = process.env['REDIS_URL'] || null;
  const redis = redisUrl === null ? 'no REDIS_URL, so the Postgres backend alone' : 'Redis at REDIS_URL';
  const databaseUrl = process.env['DATABASE_URL'] ?? '';
  return {
    run,
    databaseUrl,
    redisUrl,
    containers: null,
    line: `PostgreSQL at DATABASE_URL; ${redis}`,
    stop: () => dropDatabasesOf(run, databaseUrl),
  };
}

async function inContainers(run: string): Promise<TestServices> {
  await removeLeftovers();
  try {
    const [postgres, redis] = await Promise.all([startPostgresContainer(run, IN_MEMORY), startRedisContainer(run)]);
    return {
      run,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      containers: { postgres: postgres.id, redis: redis.id },
      line: 'PostgreSQL 15 and Redis 7.0 in containers',
      stop: () => removeContainersOf(run),
    };
  } catch (error) {
    await removeContainersOf(run);
    throw error;
  }
}

async function embedded(run: string, wantRedis: boolean, why: string): Promise<TestServices> {
  const folder = await temporaryFolder();
  const settings = { ...TEST_SETTINGS };
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), settings });
  const redis = wantRedis ? await startLocalRedis({ dir: path.join(folder, 'redis') }) : null;
  const beside = redis === null ? 'no Redis, so the Postgres backend alone' : `Redis ${redis.version} from PATH`;
  return {
    run,
    databaseUrl: postgres.url,
    redisUrl: redis?.url ?? null,
    containers: null,
    line: `embedded PostgreSQL ${postgres.version}; ${beside} (${why})`,
    async stop() {
      await redis?.stop();
      await postgres.stop();
      await removeFolder(folder);
    },
  };
}
