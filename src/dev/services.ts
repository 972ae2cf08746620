// The services of laptop mode: those that the environment names, and embedded ones for the rest. All data is in
// `.nightshift/` in the working directory, or in the folder that NIGHTSHIFT_DATA names.
import path from 'node:path';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { startLocalRedis } from './local-redis.ts';

interface Services {
  databaseUrl: string;
  /** Null: no Redis; the queue runs on Postgres and the bus in this process. */
  redisUrl: string | null;
  /** The folder of all local data. */
  folder: string;
  /** One line for each service, for people; contains no secret. */
  describe: string[];
  /** Stops the services that were started here, and no others. */
  stop(): Promise<void>;
}

interface ServicesOptions {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  log?: (line: string) => void;
}

interface Service<Url> {
  url: Url;
  line: string;
  stop(): Promise<void>;
}

const nothingToStop = async (): Promise<void> => {};

export async function startServices(options: ServicesOptions): Promise<Services> {
  const log = options.log ?? (() => {});
  const folder = path.resolve(options.cwd, options.env['NIGHTSHIFT_DATA'] || '.nightshift');
  const redis = await redisFor(options.env['REDIS_URL'], path.join(folder, 'redis'), log);
  try {
    const database = await databaseFor(options.env['DATABASE_URL'], path.join(folder, 'postgres'), log);
    return {
      databaseUrl: database.url,
      redisUrl: redis.url,
      folder,
      describe: [database.line, redis.line],
      async stop() {
        await redis.stop();
        await database.stop();
      },
    };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

async function databaseFor(
  url: string | undefined,
  dataDir: string,
  log: (line: string) => void,
): Promise<Service<string>> {
  if (url) return { url, line: `PostgreSQL at ${placeOf(url)} (DATABASE_URL)`, stop: nothingToStop };
  const server = await startEmbeddedPostgres({ dataDir, log });
  const line = `PostgreSQL ${server.version}, embedded, data in ${dataDir}`;
  return { url: server.url, line, stop: () => server.stop() };
}

async function redisFor(
  url: string | undefined,
  dir: string,
  log: (line: string) => void,
): Promise<Service<string | null>> {
  if (url) return { url, line: `Redis at ${placeOf(url)} (REDIS_URL)`, stop: nothingToStop };
  const server = await startLocalRedis({ dir, log });
  if (server !== null) {
    return {
      url: server.url,
      line: `Redis ${server.version} (${server.program})`,
      stop: () => server.stop(),
    };
  }
  return { url: null, line: 'no Redis on PATH: the queue runs on PostgreSQL', stop: nothingToStop };
}

/** Host, port and path of an address, without user and password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'the given address';
  const { host, pathname } = new URL(url);
  return `${host}${pathname === '/' ? '' : pathname}`;
}
