/** Jobs that a service enqueues in its own transaction. Part of the package: these types name no library. */
import type { CreateWorker, FirstMessage, PostMessage } from '../../client/index.ts';

/**
 * What can run SQL: a transaction of postgres.js, of `pg`, of Drizzle or of Prisma. For another library give an object
 * with `query(text, parameters)`, which replaces `$1` and `$2`.
 */
export type SqlRunner =
  | { query(text: string, parameters: string[]): PromiseLike<unknown> }
  | { unsafe(text: string, parameters: string[]): PromiseLike<unknown> }
  | { execute(text: string): PromiseLike<unknown> }
  | { $queryRawUnsafe(text: string, ...parameters: string[]): PromiseLike<unknown> };

type OfRequest = 'after_s' | 'at' | 'webhook';

/** A worker to create, with its first input. */
export type EnqueueWorker = Omit<CreateWorker, 'input' | 'parent_worker_id'> & {
  input: string | Omit<FirstMessage, OfRequest>;
  context_id?: never;
};

/** An input for a context that exists, or that the same transaction enqueued before. It waits its turn. */
export type EnqueueMessage = { context_id: string; input: string | Omit<PostMessage, OfRequest | 'delivery'> };

/** `job_id`: a UUIDv7 of your own; enqueued twice, it is one job with the same ids. Default: a new one. */
export type EnqueueJob = { tenant: string; job_id?: string } & (EnqueueWorker | EnqueueMessage);

/** Ids of what exists once your transaction has committed. `worker_id`: of the worker that it creates; null: none. */
export type Enqueued = { job_id: string; message_id: string; context_id: string; worker_id: string | null };
