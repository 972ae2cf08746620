/**
 * The wake queue on BullMQ, the same for each of its backends. Outside of src/queue, BullMQ's job, queue and worker are
 * called wake-up, wake queue and queue consumer. Nothing here is durable: attempts, stalls and failures are handled in
 * PostgreSQL.
 */
import type { JobsOptions, Queue as BullQueue, Worker as BullWorker } from 'bullmq';
import pTimeout from 'p-timeout';
import { parseId, type ContextId } from '../core/ids.ts';
import { perTurn } from '../per-turn.ts';
import type { HandleWakeUp, WakeQueue, WakeUp, QueueConsumer } from './wake-queue.ts';

/** Without a priority: BullMQ runs all entries in the order of their arrival, with fewer commands of Redis. */
const ENTRY: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

/** How long the queue may take to answer a check, and to close, in milliseconds. */
const ANSWER_MS = 1_000;
const CLOSE_MS = 2_000;

/** PostgreSQL decides what a wake-up means, so BullMQ delivers a stalled entry again without limit. */
export const CONSUMER_OPTIONS = {
  lockDuration: 60_000,
  stalledInterval: 30_000,
  maxStalledCount: 1_000_000,
  drainDelay: 2,
} as const;

/** `isNew` is missing if it is false. */
export type Entry = { contextId: string; isNew?: boolean };
type AnyQueue = Pick<BullQueue<Entry>, 'count'> & { add: (entries: EntryToAdd[]) => Promise<unknown> };
type AnyConsumer = Pick<BullWorker<Entry>, 'pause' | 'resume' | 'close'>;

export type EntryToAdd = { name: string; data: Entry; opts: JobsOptions };

/**
 * Its id is new after every wake-up and every claim, so that BullMQ does not drop a wake-up because an entry of a dead
 * process has the same id.
 */
function toEntry({ contextId, wakeSeq, epoch }: WakeUp): EntryToAdd {
  const data = wakeSeq === 1 && epoch === 0 ? { contextId, isNew: true } : { contextId };
  return { name: 'wake-up', data, opts: { ...ENTRY, jobId: `${contextId}-${wakeSeq}-${epoch}` } };
}

/** `isConnected`: whether a wake-up can be sent now; none is kept for later. */
export function toWakeQueue(queue: AnyQueue, isConnected: () => boolean, close: () => Promise<void>): WakeQueue {
  const wakeUps = perTurn<EntryToAdd>((entries) => {
    if (!isConnected()) return;
    queue.add(entries).catch(() => undefined);
  });
  return {
    notify: (wakeUp) => wakeUps.add(toEntry(wakeUp)),
    async isReachable() {
      if (!isConnected()) return false;
      return pTimeout(queue.count(), { milliseconds: ANSWER_MS }).then(
        () => true,
        () => false,
      );
    },
    close() {
      wakeUps.flush();
      return close();
    },
  };
}

/** `close` releases the connection of the consumer. */
export function toQueueConsumer(consumer: AnyConsumer, close: () => Promise<void> | void): QueueConsumer {
  return {
    pause: () => consumer.pause(true),
    resume: () => consumer.resume(),
    async close() {
      // No entry is being handled any more, and an unavailable queue must not delay the end.
      await pTimeout(consumer.close(true), { milliseconds: CLOSE_MS }).catch(() => undefined);
      await close();
    },
  };
}

/** Handles an entry that names a context. Any other entry is not ours, and is ignored. */
export async function handleEntry(entry: Entry, answer: HandleWakeUp): Promise<void> {
  const contextId = parseId<ContextId>(entry.contextId);
  if (contextId !== null) await answer(contextId, entry.isNew === true);
}
