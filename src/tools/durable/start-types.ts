/** The types of `context.spawn` and `context.enqueue`, for authors of tools. */
import type { JsonObject } from '../../core/json.ts';

/** A worker to create below the one that runs the tool, and its task. What is missing is taken from its role or parent. */
export type SpawnOptions = {
  /** The first input of the worker: at most 1,000,000 characters. */
  input: string;
  /** Default: the name of its role, else `worker`. */
  name?: string | undefined;
  /** The name of its role. Default: none. */
  role?: string | undefined;
  /** Its system prompt, in place of that of the role. */
  system_prompt?: string | undefined;
  /** `provider/model`. */
  model?: string | undefined;
  /** Names, from the tools of the parent and of the role. */
  tools?: readonly string[] | undefined;
  /** Of its job. Default: `{}`. */
  metadata?: JsonObject | undefined;
  /** It goes on when the job of the call is cancelled. Default: false. */
  detached?: boolean | undefined;
};

/** The ids of a worker that a tool created. */
export type SpawnedWorker = {
  /** The id of the worker. */
  worker_id: string;
  /** The id of its context. */
  context_id: string;
  /** The id of its first job. */
  job_id: string;
};

/** An input to queue in a context. */
export type EnqueueOptions = {
  /** Any context of the tenant. If the job has a user, only one of this user. */
  context_id: string;
  /** At most 1,000,000 characters. */
  input: string;
  /** From 1 (first) to 10. Default: 5. */
  priority?: number | undefined;
  /** Of its job. Default: `{}`. */
  metadata?: JsonObject | undefined;
};

/** The ids of an input that a tool queued. */
export type EnqueuedInput = {
  /** The id of the context that got it. */
  context_id: string;
  /** The id of its job. */
  job_id: string;
  /** The id of the input. */
  message_id: string;
};

/**
 * Creates a worker, with its first job, exactly once: `spawn('research', { role: 'researcher', input })`. It is committed
 * together with a durable step of this name, which a further execution of the call gets instead. It does not wait.
 *
 * The rules are those of `spawn_worker`: only tools and roles that the parent may use, the limits of its tree and of the
 * tenant, the user of the parent, the deadline of the job. Throws a `ToolError` with the code of the refusal, such as
 * `worker_limit`, `unknown_role`, `forbidden` or `quota_exceeded`, `invalid_input`, or that of a step (see `RunStep`).
 */
export type SpawnWorker = (name: string, options: SpawnOptions) => Promise<SpawnedWorker>;

/**
 * Queues an input in a context, as a job of its own, exactly once: `enqueue('tell', { context_id, input })`. It is committed
 * together with a durable step of this name, as with `SpawnWorker`. The job runs on behalf of the user of this job.
 *
 * Throws a `ToolError` with the code of the refusal: `not_found` (also for a context of another user), `worker_stopped`,
 * `queue_full`, `quota_exceeded`, `worker_limit` (workers passed it on too often), `invalid_input`, or that of a step.
 */
export type EnqueueInput = (name: string, options: EnqueueOptions) => Promise<EnqueuedInput>;
