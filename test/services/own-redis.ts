// A Redis of one's own, for tests that kill or flush it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { freePort } from '../../src/dev/free-port.ts';
import { startLocalRedis, type LocalRedis } from '../../src/dev/local-redis.ts';
import { startRedisContainer } from './containers.ts';
import { ownContainer, type OwnService } from './own-service.ts';
import { removeFolder, temporaryFolder } from './temporary-folder.ts';

/** In a container where the run uses containers, else from PATH; null where the run has no Redis. */
export async function startOwnRedis(): Promise<OwnService | null> {
  if (inject('redisUrl') === null) return null;
  if (inject('serviceContainers') === null) return fromPath();
  return ownContainer(await startRedisContainer(inject('testRun'), await freePort()), untilRedisAnswers);
}

export async function untilRedisAnswers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (await redisAnswers(url)) return;
    await sleep(50);
  }
  throw new Error('Redis does not answer');
}

async function redisAnswers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

async function fromPath(): Promise<OwnService | null> {
  const dir = await temporaryFolder();
  const first = await startLocalRedis({ dir });
  if (first === null) return null;
  const { port, password } = new URL(first.url);
  let server: LocalRedis = first;
  return {
    url: first.url,
    stop: () => server.stop(),
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
    },
    async start() {
      const again = await startLocalRedis({ dir, port: Number(port), password });
      if (again === null) throw new Error('Redis has gone from PATH');
      server = again;
    },
    pause: async () => void process.kill(server.pid, 'SIGSTOP'),
    resume: async () => void process.kill(server.pid, 'SIGCONT'),
    async remove() {
      await server.stop();
      await removeFolder(dir);
    },
  };
}
