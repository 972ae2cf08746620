/** Doorbells on Redis. The prefix is hash-tagged, so that a cluster keeps a queue's keys together. */
import { Queue as BullQueue, Worker as QueueConsumer } from 'bullmq';
import { Redis } from 'ioredis';
import { CONSUMER_OPTIONS, answerEntry, toBell, toListener } from './bullmq.ts';
import { QUEUE_NAME } from './doorbell.ts';
import type { Queue } from './doorbell.ts';

/** After an outage of any length, this late at most. */
const reconnect = (attempt: number): number => Math.min(attempt * 50, 2_000);

/** `prefix` tells installations apart that share a Redis. `onError` hears of trouble; nothing depends on it. */
export function redisQueue(url: string, prefix: string, onError: (error: Error) => void): Queue {
  const options = { prefix: `{${prefix}}` };
  return {
    openBell() {
      const redis = new Redis(url, {
        retryStrategy: reconnect,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
      });
      redis.on('error', onError);
      const queue = new BullQueue<{ contextId: string }>(QUEUE_NAME, {
        ...options,
        connection: redis,
      });
      queue.on('error', onError);
      const isConnected = (): boolean => redis.status === 'ready';
      return toBell(queue, isConnected, async () => {
        await queue.close().catch(() => undefined);
        redis.disconnect();
      });
    },
    async listen(answer, concurrency) {
      const redis = new Redis(url, { retryStrategy: reconnect, maxRetriesPerRequest: null });
      redis.on('error', onError);
      const consumer = new QueueConsumer<{ contextId: string }>(
        QUEUE_NAME,
        async (entry) => answerEntry(entry.data, answer),
        { ...options, ...CONSUMER_OPTIONS, connection: redis, concurrency },
      );
      consumer.on('error', onError);
      return toListener(consumer, () => redis.disconnect());
    },
  };
}
