/**
 * Opens what wakes and notifies processes: the queue, on Redis or else on PostgreSQL, and the bus, on Redis or else within
 * this process.
 */
import type { Logger } from 'pino';
import type { Bus } from '../../bus/bus.ts';
import { localBus } from '../../bus/local.ts';
import { isCluster } from '../../bus/redis-cluster.ts';
import { redisBus } from '../../bus/redis.ts';
import { localRates, redisRates } from '../../bus/request-rates.ts';
import type { Config } from '../../config/config.ts';
import type { RequestRates } from '../../core/access/quotas.ts';
import { postgresQueue } from '../../queue/postgres.ts';
import { redisQueue } from '../../queue/redis.ts';
import type { Queue, WakeQueue } from '../../queue/wake-queue.ts';

/** The services of a process. `redisUrl` null: a single process runs everything, without Redis. */
export type Services = { databaseUrl: string; redisUrl: string | null };

/** The URL of connections that keep their session. */
export function directUrl(
  { databaseUrl }: Pick<Services, 'databaseUrl'>,
  { directDatabaseUrl }: Pick<Config, 'directDatabaseUrl'>,
): string {
  return directDatabaseUrl ?? databaseUrl;
}

export type Transport = {
  bus: Bus;
  queue: Queue;
  wakeQueue: WakeQueue;
  requestRates: RequestRates;
  close(): Promise<void>;
};

export async function openTransport(
  services: Services,
  config: Pick<Config, 'prefix' | 'databaseSchema' | 'directDatabaseUrl'>,
  log: Logger,
): Promise<Transport> {
  const [{ redisUrl }, { prefix, databaseSchema }] = [services, config];
  const onError = quietly(log);
  if (redisUrl === null) {
    const queue = await postgresQueue(directUrl(services, config), onError, databaseSchema);
    return withWakeQueue(queue, localBus(), localRates(), () => queue.close());
  }
  const cluster = await isCluster(redisUrl);
  const bus = redisBus(redisUrl, prefix, onError, cluster);
  const rates = redisRates(redisUrl, prefix, onError, cluster);
  return withWakeQueue(redisQueue(redisUrl, prefix, onError, cluster), bus, rates, async () => undefined);
}

function withWakeQueue(queue: Queue, bus: Bus, requestRates: RequestRates, closeQueue: () => Promise<void>): Transport {
  const wakeQueue = queue.openWakeQueue();
  return {
    bus,
    queue,
    wakeQueue,
    requestRates,
    async close() {
      requestRates.close();
      for (const close of [() => wakeQueue.close(), () => bus.close(), closeQueue])
        await close().catch(() => undefined);
    },
  };
}

/** Logs errors at most every ten seconds, because each reconnection attempt repeats them. */
function quietly(log: Logger): (error: Error) => void {
  let lastLoggedAt = -Infinity;
  return (error) => {
    if (performance.now() - lastLoggedAt < 10_000) return;
    lastLoggedAt = performance.now();
    log.warn({ err: error }, 'queue or bus error; sweeps keep finding jobs');
  };
}
