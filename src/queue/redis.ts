/** The wake queue on Redis. The prefix is hash-tagged, so that a cluster keeps a queue's keys in one slot. */
import { Queue as BullQueue, Worker as BullWorker } from 'bullmq';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { CONSUMER_OPTIONS, handleEntry, toWakeQueue, toQueueConsumer, type Entry, type EntryToAdd } from './bullmq.ts';
import { QUEUE_NAME, type Queue } from './wake-queue.ts';

/** Delay before the next attempt to connect, in milliseconds: 2 seconds at most, after an outage of any length. */
const reconnect = (attempt: number): number => Math.min(attempt * 50, 2_000);

/**
 * `prefix` separates installations that share a Redis. `onError` gets connection errors, for logging only. `cluster`:
 * whether `url` names a node of a Redis Cluster.
 */
export function redisQueue(url: string, prefix: string, onError: (error: Error) => void, cluster = false): Queue {
  const options = { prefix: `{${prefix}}` };
  const connect = cluster ? connectCluster : connectSingle;
  return {
    openWakeQueue() {
      const redis = connect(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
      redis.on('error', onError);
      const queue = new BullQueue<Entry>(QUEUE_NAME, {
        ...options,
        connection: redis,
      });
      queue.on('error', onError);
      const isConnected = (): boolean => redis.status === 'ready';
      const add = async (entries: EntryToAdd[]): Promise<void> => {
        const [first] = entries;
        // One command less than in bulk.
        if (entries.length === 1 && first !== undefined) await queue.add(first.name, first.data, first.opts);
        else await queue.addBulk(entries);
      };
      return toWakeQueue({ add, count: () => queue.count() }, isConnected, async () => {
        await queue.close().catch(() => undefined);
        redis.disconnect();
      });
    },
    async listen(answer, concurrency) {
      const redis = connect(url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
      redis.on('error', onError);
      const consumer = new BullWorker<Entry>(QUEUE_NAME, async (entry) => handleEntry(entry.data, answer), {
        ...options,
        ...CONSUMER_OPTIONS,
        connection: redis,
        concurrency,
      });
      consumer.on('error', onError);
      return toQueueConsumer(consumer, () => redis.disconnect());
    },
  };
}

type Timeout = { enableOfflineQueue: boolean; maxRetriesPerRequest: number | null };

function connectSingle(url: string, timeout: Timeout): Redis {
  return new Redis(url, { retryStrategy: reconnect, ...timeout });
}

function connectCluster(url: string, { enableOfflineQueue, maxRetriesPerRequest }: Timeout): Cluster {
  const { username, password, protocol } = new URL(url);
  const redisOptions = {
    maxRetriesPerRequest,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  } satisfies RedisOptions;
  return new Cluster([url], { clusterRetryStrategy: reconnect, enableOfflineQueue, redisOptions });
}
