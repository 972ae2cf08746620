// Postgres and Redis of the run's own, to be broken: in containers, like those of the tests. No other service is ever
// touched.
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { freePort } from '../../src/dev/free-port.ts';
import {
  missingImages,
  nameRun,
  pullImages,
  removeContainersOf,
  removeLeftovers,
  startPostgresContainer,
  startRedisContainer,
} from '../services/containers.ts';
import { ownContainer, type OwnService } from '../services/own-service.ts';

export type Services = { postgres: OwnService; redis: OwnService };

/** Null: no container engine answers, or it lacks the images and cannot get them. */
export async function startServices(
  print: (line: string) => void,
): Promise<(Services & { remove(): Promise<void> }) | null> {
  const missing = await missingImages();
  if (missing === null) return null;
  if (missing.length > 0) {
    print(`pulling ${missing.join(' and ')} …`);
    if (!(await pullImages(missing))) return null;
  }
  await removeLeftovers();
  const run = await nameRun();
  const remove = (): Promise<void> => removeContainersOf(run);
  try {
    const [database, wakeQueue] = await Promise.all([
      startPostgresContainer(run, { port: await freePort() }),
      startRedisContainer(run, await freePort()),
    ]);
    return {
      postgres: await ownContainer(database, untilAnswered(postgresAnswers)),
      redis: await ownContainer(wakeQueue, untilAnswered(redisAnswers)),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function untilAnswered(answers: (url: string) => Promise<boolean>): (url: string) => Promise<void> {
  return async (url) => {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      if (await answers(url)) return;
      await sleep(50);
    }
    throw new Error('a service does not answer');
  };
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

async function redisAnswers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
