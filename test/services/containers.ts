// PostgreSQL and Redis in containers, for a test run. Every container carries labels with its run, so that a run
// deletes its own and those of killed runs, and never those of others.
import { setTimeout as sleep } from 'node:timers/promises';
import { hostname } from 'node:os';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { RedisContainer } from '@testcontainers/redis';
import { ImageName, Wait, getContainerRuntimeClient, type ContainerRuntimeClient } from 'testcontainers';
import { startOf } from '../../src/dev/process-identity.ts';

// The library's own helper container cannot be pulled everywhere; the labels do its work. It reads this late.
process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';

const POSTGRES = 'postgres:15-bookworm';
const REDIS = 'redis:7.0-bookworm';
const PULL_WITHIN_MS = 300_000;

/**
 * Speed over safety from power cuts, and room for many test files. Commits stay synchronous: a server that is killed
 * must have what it acknowledged.
 */
export const TEST_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '4GB',
} as const;

export type PostgresOptions = {
  /** With it, the container has the same port after a restart; otherwise the engine picks one. */
  port?: number;
  settings?: Readonly<Record<string, string>>;
  /** Folders in memory, which are empty after a restart. */
  tmpfs?: Readonly<Record<string, string>>;
};

/** For a server that no test stops. It takes a tenth off what PostgreSQL costs a run. */
export const IN_MEMORY: PostgresOptions = {
  settings: { ...TEST_SETTINGS, max_wal_size: '1GB' },
  tmpfs: { '/var/lib/postgresql/data': 'rw' },
};

export interface StartedContainer {
  id: string;
  url: string;
}

/** None. The library's own check runs four times a second, permanently, which takes a twentieth of a core. */
const NO_HEALTH_CHECK: Parameters<PostgreSqlContainer['withHealthCheck']>[0] = {
  test: ['CMD', 'true'],
  interval: 86_400_000,
};
/** Once while the image sets itself up, and once for us. */
const POSTGRES_IS_READY = Wait.forLogMessage(/database system is ready to accept connections/, 2);

/** The images that the engine lacks; null where no engine answers. */
export async function missingImages(): Promise<string[] | null> {
  const client = await engine();
  if (client === null) return null;
  const missing: string[] = [];
  for (const image of [POSTGRES, REDIS]) {
    if (!(await client.image.exists(ImageName.fromString(image)))) missing.push(image);
  }
  return missing;
}

/** Whether all of them could be pulled, in good time. */
export async function pullImages(images: string[]): Promise<boolean> {
  const client = await engine();
  if (client === null) return false;
  const pulls = images.map((image) => client.image.pull(ImageName.fromString(image)));
  const giveUp = new AbortController();
  try {
    const late = sleep(PULL_WITHIN_MS, false, { signal: giveUp.signal });
    return await Promise.race([Promise.all(pulls).then(() => true), late]);
  } catch {
    return false;
  } finally {
    giveUp.abort();
  }
}

async function engine(): Promise<ContainerRuntimeClient | null> {
  return getContainerRuntimeClient().catch(() => null);
}

/** The name of a run, from which any later run can tell whether it is still running. */
export async function nameRun(): Promise<string> {
  return `${hostname()}/${process.pid}/${await startOf(process.pid)}`;
}

const LABEL = 'nightshift.test.run';

export async function startPostgresContainer(
  run: string,
  { port, settings = TEST_SETTINGS, tmpfs = {} }: PostgresOptions = {},
): Promise<StartedContainer> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const container = await new PostgreSqlContainer(POSTGRES)
    .withExposedPorts(port === undefined ? 5432 : { container: 5432, host: port })
    .withDatabase('postgres')
    .withUsername('nightshift')
    .withPassword('nightshift')
    .withTmpFs({ ...tmpfs })
    .withCommand(['postgres', ...flags])
    .withLabels({ [LABEL]: run })
    .withHealthCheck(NO_HEALTH_CHECK)
    .withWaitStrategy(Wait.forAll([POSTGRES_IS_READY, Wait.forListeningPorts()]))
    .start();
  return { id: container.getId(), url: container.getConnectionUri() };
}

export async function startRedisContainer(run: string, port?: number): Promise<StartedContainer> {
  const container = await new RedisContainer(REDIS)
    .withExposedPorts(port === undefined ? 6379 : { container: 6379, host: port })
    .withCommand(['redis-server', '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'])
    .withLabels({ [LABEL]: run })
    .start();
  return { id: container.getId(), url: container.getConnectionUrl() };
}

/** A Redis Cluster of one node, which has all slots and announces `port` of this machine. */
export async function startClusterContainer(run: string, port: number): Promise<StartedContainer> {
  const flags = ['--save', '', '--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
  const container = await new RedisContainer(REDIS)
    .withExposedPorts({ container: 6379, host: port })
    .withCommand(['redis-server', ...flags, '--cluster-announce-port', String(port)])
    .withLabels({ [LABEL]: run })
    .start();
  await container.exec(['redis-cli', 'cluster', 'addslotsrange', '0', '16383']);
  return { id: container.getId(), url: container.getConnectionUrl() };
}

/** The engine's own operations on one container. */
export async function containerById(id: string) {
  return (await getContainerRuntimeClient()).container.getById(id);
}

/** Removes the containers of one run. */
export async function removeContainersOf(run: string): Promise<void> {
  await removeWhere((label) => label === run);
}

/** Removes the containers of this machine's runs that are over. */
export async function removeLeftovers(): Promise<void> {
  const over = new Set<string>();
  for (const label of await labels()) if (await isOver(label)) over.add(label);
  await removeWhere((label) => over.has(label));
}

async function isOver(run: string): Promise<boolean> {
  const [host, pid, started] = run.split('/');
  return host === hostname() && (await startOf(Number(pid))) !== started;
}

async function labels(): Promise<string[]> {
  const list = await containers();
  return list.map((container) => container.label);
}

async function removeWhere(chosen: (label: string) => boolean): Promise<void> {
  const doomed = (await containers()).filter((container) => chosen(container.label));
  await Promise.all(
    doomed.map(async ({ id }) => {
      // Another run may delete the same leftover at the same time.
      await (await containerById(id)).remove({ force: true, v: true }).catch(() => {});
    }),
  );
}

async function containers(): Promise<{ id: string; label: string }[]> {
  const client = await getContainerRuntimeClient();
  const list = await client.container.dockerode.listContainers({ all: true, filters: { label: [LABEL] } });
  return list.map(({ Id, Labels }) => ({ id: Id, label: Labels[LABEL] ?? '' }));
}
