/** Jobs that a service enqueues in its own transaction. Part of the package: these types name no library. */
import type { CreateWorker, FirstMessage, PostMessage } from '../../client/index.ts';

/**
 * What can run SQL: a transaction of postgres.js, of `pg`, of Drizzle or of Prisma. For another library give an object
 * with `query(text, parameters)`, which replaces `$1` and `$2`.
 */
export type SqlRunner =
  | {
      /** A client of `pg`, or your own function: runs a statement with `$1` and `$2`. */
      query(text: string, parameters: string[]): PromiseLike<unknown>;
    }
  | {
      /** A transaction of postgres.js. */
      unsafe(text: string, parameters: string[]): PromiseLike<unknown>;
    }
  | {
      /** A transaction of Drizzle. */
      execute(text: string): PromiseLike<unknown>;
    }
  | {
      /** A transaction of Prisma. */
      $queryRawUnsafe(text: string, ...parameters: string[]): PromiseLike<unknown>;
    };

type OfRequest = 'after_s' | 'at' | 'webhook';

/** A worker to create, with its first input. */
export type EnqueueWorker = Omit<CreateWorker, 'input' | 'parent_worker_id'> & {
  /** Its first input: a text, or an object with `content` and more. */
  input: string | Omit<FirstMessage, OfRequest>;
  /** Of a worker there is none: `EnqueueMessage` has one. */
  context_id?: never;
};

/** An input for a context that exists, or that the same transaction enqueued before. It waits its turn. */
export type EnqueueMessage = {
  /** The id of the context that gets the input. */
  context_id: string;
  /** A text, or an object with `content` and more. */
  input: string | Omit<PostMessage, OfRequest | 'delivery'>;
};

/** A job to enqueue, for a tenant: a new worker with its first input, or an input for a context. */
export type EnqueueJob = {
  /** The name of the tenant. */
  tenant: string;
  /** A UUIDv7 of your own; enqueued twice, it is one job with the same ids. Default: a new one. */
  job_id?: string;
} & (EnqueueWorker | EnqueueMessage);

/** Ids of what exists once your transaction has committed. */
export type Enqueued = {
  /** The id of the job. */
  job_id: string;
  /** The id of the input. */
  message_id: string;
  /** The id of the context that has both. */
  context_id: string;
  /** The id of the worker that it creates; null: it creates none. */
  worker_id: string | null;
};
