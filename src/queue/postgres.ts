/**
 * Doorbells on BullMQ's Postgres backend: laptop mode, where there is no Redis. One pool serves bell and listener; BullMQ's
 * own tables stand in a schema of their own.
 */
import { DEFAULT_SCHEMA, createPostgresBackend, isPgPool, runMigrations, withBackend } from 'bullmq';
import { Pool } from 'pg';
import { CONSUMER_OPTIONS, handleEntry, toWakeQueue, toQueueConsumer } from './bullmq.ts';
import { QUEUE_NAME } from './wake-queue.ts';
import type { Queue } from './wake-queue.ts';

const { Queue: BullQueue, Worker: BullWorker } = withBackend(createPostgresBackend);

/** Resolves once BullMQ's tables are there. */
export async function postgresQueue(
  databaseUrl: string,
  onError: (error: Error) => void,
): Promise<Queue & { close(): Promise<void> }> {
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 8,
    application_name: 'nightshift-queue',
    // BullMQ sets this on pools of its own making only.
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  });
  pool.on('error', onError);
  // BullMQ describes the pool it wants by a type of its own, which a real one does not spell out.
  if (!isPgPool(pool)) throw new Error('BullMQ does not take this version of pg.');
  const session = await pool.connect();
  try {
    await runMigrations(session);
  } finally {
    session.release();
  }
  return {
    openWakeQueue() {
      const queue = new BullQueue(QUEUE_NAME, { connection: pool });
      queue.on('error', onError);
      return toWakeQueue(
        queue,
        () => true,
        () => queue.close(),
      );
    },
    async listen(answer, concurrency) {
      const consumer = new BullWorker(QUEUE_NAME, async (entry) => handleEntry(entry.data, answer), {
        ...CONSUMER_OPTIONS,
        connection: pool,
        concurrency,
      });
      consumer.on('error', onError);
      await consumer.waitUntilReady();
      return toQueueConsumer(consumer, () => undefined);
    },
    close: () => pool.end(),
  };
}
