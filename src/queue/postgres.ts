/**
 * The wake queue on BullMQ's PostgreSQL backend, for laptop mode without Redis. Wake queue and consumer share one pool.
 * BullMQ's tables are in a schema of their own.
 */
import { DEFAULT_SCHEMA, createPostgresBackend, isPgPool, runMigrations, withBackend } from 'bullmq';
import { Pool } from 'pg';
import { DATABASE_SCHEMA } from '../core/database-schema.ts';
import { CONSUMER_OPTIONS, handleEntry, toWakeQueue, toQueueConsumer, type EntryToAdd } from './bullmq.ts';
import { QUEUE_NAME, type Queue } from './wake-queue.ts';

const { Queue: BullQueue, Worker: BullWorker } = withBackend(createPostgresBackend);

/** Installations in one database share BullMQ's tables, since BullMQ expects its own schema of a pool that is shared. */
function queueName(databaseSchema: string): string {
  return databaseSchema === DATABASE_SCHEMA ? QUEUE_NAME : `${QUEUE_NAME}-${databaseSchema}`;
}

/** Resolves once BullMQ's tables exist. Installations with different schemas share no wake-ups. */
export async function postgresQueue(
  databaseUrl: string,
  onError: (error: Error) => void,
  databaseSchema = DATABASE_SCHEMA,
): Promise<Queue & { close(): Promise<void> }> {
  const name = queueName(databaseSchema);
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 8,
    application_name: 'nightshift-queue',
    // BullMQ sets this only on pools that it creates.
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  });
  pool.on('error', onError);
  // BullMQ declares its own type for pools, which pg's `Pool` does not match without this check.
  if (!isPgPool(pool)) throw new Error('BullMQ does not accept the pool of the installed version of pg.');
  try {
    await createTables(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    openWakeQueue() {
      const queue = new BullQueue(name, { connection: pool });
      queue.on('error', onError);
      // In bulk it would create temporary tables.
      const add = (entries: EntryToAdd[]) =>
        Promise.all(entries.map(({ name, data, opts }) => queue.add(name, data, opts)));
      return toWakeQueue(
        { add, count: () => queue.count() },
        () => true,
        () => queue.close(),
      );
    },
    async listen(answer, concurrency) {
      const consumer = new BullWorker(name, async (entry) => handleEntry(entry.data, answer), {
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

async function createTables(pool: Pool): Promise<void> {
  const session = await pool.connect();
  try {
    await runMigrations(session);
  } finally {
    session.release();
  }
}
