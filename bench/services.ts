/**
 * PostgreSQL and Redis for a run of the benchmark, chosen as for the tests. Each system has its own database in both,
 * so that rows, keys and statistics are separate.
 */
import path from 'node:path';
import postgres from 'postgres';
import { startEmbeddedPostgres } from '../src/dev/embedded-postgres.ts';
import { startLocalRedis } from '../src/dev/local-redis.ts';
import { chooseServices } from '../test/services/choose.ts';
import {
  TEST_SETTINGS,
  containerById,
  nameRun,
  removeContainersOf,
  removeLeftovers,
  startPostgresContainer,
  startRedisContainer,
} from '../test/services/containers.ts';
import { removeFolder, temporaryFolder } from '../test/services/temporary-folder.ts';

export type Services = {
  /** A line for the report. */
  line: string;
  /** Creates the database. */
  place(name: string): Promise<Place>;
  /** CPU seconds used so far; null: unknown. */
  cpuSeconds(): Promise<ServicesCpu | null>;
  stop(): Promise<void>;
};

export type ServicesCpu = { postgres: number; redis: number };

export type Place = { databaseUrl: string; redisUrl: string };

type Started = Omit<Services, 'place' | 'stop'> & {
  databaseUrl: string;
  redisUrl: string;
  stop(): Promise<void>;
};

const SETTINGS = {
  ...TEST_SETTINGS,
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '1000',
};

/** Redis databases have numbers; 0 is not used. */
const REDIS_NUMBERS = 15;

export async function startServices(say: (line: string) => void): Promise<Services> {
  const started = await startChosen(say);
  const created: string[] = [];
  return {
    line: started.line,
    cpuSeconds: started.cpuSeconds,
    async place(name) {
      const database = `nightshift_bench_${process.pid}_${name}`;
      await administer(started.databaseUrl, `create database ${database}`);
      created.push(database);
      const databaseUrl = withPath(started.databaseUrl, database);
      const redisUrl = withPath(started.redisUrl, String(1 + ((created.length - 1) % REDIS_NUMBERS)));
      return { databaseUrl, redisUrl };
    },
    async stop() {
      for (const database of created) {
        await administer(started.databaseUrl, `drop database if exists ${database} with (force)`);
      }
      await started.stop();
    },
  };
}

async function startChosen(say: (line: string) => void): Promise<Started> {
  const choice = await chooseServices(process.env, say);
  switch (choice.kind) {
    case 'url':
      return fromEnvironment();
    case 'containers':
      return inContainers();
    case 'embedded':
      return embedded();
  }
}

function fromEnvironment(): Started {
  const redisUrl = process.env['REDIS_URL'] ?? '';
  if (redisUrl === '') throw new Error('DATABASE_URL is set, but REDIS_URL is not. Set both or neither.');
  return {
    line: 'PostgreSQL at DATABASE_URL, Redis at REDIS_URL; their CPU time is not counted',
    databaseUrl: process.env['DATABASE_URL'] ?? '',
    redisUrl,
    cpuSeconds: async () => null,
    stop: async () => {},
  };
}

async function inContainers(): Promise<Started> {
  await removeLeftovers();
  const run = await nameRun();
  try {
    const [postgres, redis] = await Promise.all([
      startPostgresContainer(run, { settings: SETTINGS }),
      startRedisContainer(run),
    ]);
    return {
      line: 'PostgreSQL 15 and Redis 7.0 in containers',
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      cpuSeconds: async () => ({ postgres: await cpuOfContainer(postgres.id), redis: await cpuOfContainer(redis.id) }),
      stop: () => removeContainersOf(run),
    };
  } catch (error) {
    await removeContainersOf(run);
    throw error;
  }
}

async function cpuOfContainer(id: string): Promise<number> {
  const stats = await (await containerById(id)).stats({ stream: false, 'one-shot': true });
  return stats.cpu_stats.cpu_usage.total_usage / 1e9;
}

async function embedded(): Promise<Started> {
  const folder = await temporaryFolder();
  const postgres = await startEmbeddedPostgres({
    dataDir: path.join(folder, 'postgres'),
    settings: { ...TEST_SETTINGS },
  });
  const redis = await startLocalRedis({ dir: path.join(folder, 'redis') });
  const stop = async (): Promise<void> => {
    await redis?.stop();
    await postgres.stop();
    await removeFolder(folder);
  };
  if (redis === null) {
    await stop();
    throw new Error(
      'Redis was not found. Install Docker, put redis-server on PATH, or set DATABASE_URL and REDIS_URL.',
    );
  }
  return {
    line: `embedded PostgreSQL ${postgres.version}, Redis ${redis.version} from PATH; their CPU time is not counted`,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    cpuSeconds: async () => null,
    stop,
  };
}

/** CPU seconds of both. */
export function totalCpu(cpu: ServicesCpu | null): number | null {
  return cpu === null ? null : cpu.postgres + cpu.redis;
}

async function administer(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function withPath(address: string, name: string): string {
  const url = new URL(address);
  url.pathname = `/${name}`;
  return url.href;
}
