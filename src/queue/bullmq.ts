/**
 * Doorbells on BullMQ, the same for each of its backends. This file alone knows BullMQ's job, queue and worker; they are
 * called ring, bell and listener elsewhere. Nothing here is durable: attempts, stalls and failures are Postgres' affair.
 */
import type { JobsOptions, Queue as BullQueue, Worker as BullWorker } from 'bullmq';
import pTimeout from 'p-timeout';
import { parseId } from '../core/ids.ts';
import type { ContextId } from '../core/ids.ts';
import { WAKE_UP_NAME, wakeUpId } from './wake-queue.ts';
import type { HandleWakeUp, WakeQueue, QueueConsumer } from './wake-queue.ts';

/** Every entry has a priority: BullMQ runs those without one before all others. */
const PRIORITY = 5;
const ENTRY: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true, priority: PRIORITY };

/** How long a queue may take to say that it is there, and to let go, in milliseconds. */
const ANSWER_MS = 1_000;
const CLOSE_MS = 2_000;

/** A consumer that leaves all judgement to Postgres: a stalled entry is handed out again, for ever. */
export const CONSUMER_OPTIONS = {
  lockDuration: 60_000,
  stalledInterval: 30_000,
  maxStalledCount: 1_000_000,
  drainDelay: 2,
} as const;

type Entry = { contextId: string };
type AnyQueue = Pick<BullQueue<Entry>, 'add' | 'count' | 'close'>;
type AnyConsumer = Pick<BullWorker<Entry>, 'pause' | 'close'>;

/** `isConnected`: whether a ring has a chance; none is kept for later. */
export function toWakeQueue(
  queue: AnyQueue,
  isConnected: () => boolean,
  close: () => Promise<void>,
): WakeQueue {
  return {
    notify(notify) {
      if (!isConnected()) return;
      queue
        .add(WAKE_UP_NAME, { contextId: notify.contextId }, { ...ENTRY, jobId: wakeUpId(notify) })
        .catch(() => undefined);
    },
    async isReachable() {
      if (!isConnected()) return false;
      return pTimeout(queue.count(), { milliseconds: ANSWER_MS }).then(
        () => true,
        () => false,
      );
    },
    close,
  };
}

/** `close` releases what the consumer ran on. */
export function toQueueConsumer(consumer: AnyConsumer, close: () => Promise<void> | void): QueueConsumer {
  return {
    pause: () => consumer.pause(true),
    async close() {
      // Nothing is being answered any more; a queue that is away must not hold up the end.
      await pTimeout(consumer.close(true), { milliseconds: CLOSE_MS }).catch(() => undefined);
      await close();
    },
  };
}

/** An entry is answered once it names a context; whatever else it holds is not ours. */
export async function handleEntry(entry: Entry, answer: HandleWakeUp): Promise<void> {
  const contextId = parseId<ContextId>(entry.contextId);
  if (contextId !== null) await answer(contextId);
}
