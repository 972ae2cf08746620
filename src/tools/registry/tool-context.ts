/** What the functions of a tool are given about a call, and what they return. */
import type { ResultPart } from '../../core/conversation/blocks.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ToolTransaction } from '../../core/tools/transaction.ts';
import type { EnqueueInput, SpawnWorker } from '../durable/start-types.ts';
import type { RunStep } from '../durable/step-types.ts';

/** The worker whose model made a call. */
export type ToolWorker = {
  /** The same as `worker_id`. */
  id: string;
  /** The name of the worker. */
  name: string;
  /** The name of its role; null: it has none. */
  role: string | null;
};

/** For whom and for what a call runs. The model cannot change any of it. */
type CallFacts = {
  /** The name of the tenant that the call belongs to. */
  tenant: string;
  /** The end user on whose behalf the job runs; null: none. */
  user: string | null;
  /** The `metadata` of the job, as the client gave it with the input; `{}`: none. A copy, which you may change. */
  metadata: JsonObject;
  worker: ToolWorker;
  /**
   * The `attempt` of the job, as the API shows it: from 1, one more whenever a model call of the job is started again.
   * It does not count the executions of this call.
   */
  attempt: number;
  /** A UUID, like the ids below. */
  tool_call_id: string;
  job_id: string;
  worker_id: string;
  context_id: string;
};

/**
 * Adds one entry. `message`: text, of which 2,000 characters are kept. `fields`: data that JSON can express, at most
 * 4,000 bytes of JSON; an `Error` becomes its name and message.
 */
type AddEntry = (message: string, fields?: object) => void;

/** The log of a call, by level. */
export type CallLog = {
  /** Adds an entry of the level debug. */
  debug: AddEntry;
  /** Adds an entry of the level info. */
  info: AddEntry;
  /** Adds an entry of the level warn. */
  warn: AddEntry;
  /** Adds an entry of the level error. */
  error: AddEntry;
};

/** How far a call is. */
export type ToolProgress = {
  /** What it does now. 500 characters are kept. */
  message?: string | undefined;
  /** How much of `total` is done, in any unit, such as files or percent. */
  done?: number | undefined;
  /** How much there is to do, in the unit of `done`. */
  total?: number | undefined;
};

/** What `execute` gets beside its input. */
export type ToolContext = CallFacts & {
  /**
   * Aborted when the call times out, its job is told to end, or its process stops. Later results are dropped. Pass it
   * on to what you call (`fetch(url, { signal })`).
   */
  signal: AbortSignal;
  /**
   * The same at every execution of this call. Pass it to the services you call, so that repeating the call has no
   * effect.
   */
  idempotency_key: string;
  /**
   * The place of the call in its trace, as the HTTP header `traceparent` (W3C Trace Context); null: nothing is traced,
   * and the job was posted without that header. Send it to services that you call without an instrumented client.
   */
  traceparent: string | null;
  /**
   * Adds entries to the log of the call, which clients read (`GET /api/jobs/{id}/logs`): put nothing secret into it. Never
   * throws and never waits. What exceeds the limits of a call is dropped and counted.
   */
  log: CallLog;
  /**
   * Reports how far the call is: a line of text, or a message and numbers. The last one is kept with the call and sent to
   * clients that follow the context, at most four times a second. Never throws and never waits.
   */
  progress: (report: string | ToolProgress) => void;
  /**
   * Runs a part of the call, and stores its result: a further execution of the call, after a crash, gets the stored result
   * and goes on after it. For tools with the effect `idempotent` or `once`. See `RunStep` for limits and errors.
   */
  step: RunStep;
  /** Creates a worker below the one that runs the tool, and gives it a task: exactly once. See `SpawnWorker`. */
  spawn: SpawnWorker;
  /** Queues an input in a context of the tenant: exactly once. See `EnqueueInput`. */
  enqueue: EnqueueInput;
};

/** What `execute` of a transactional tool gets beside its input: nothing that has an effect outside of the transaction. */
export type TransactionalContext = Omit<ToolContext, 'step' | 'spawn' | 'enqueue'> & {
  /** The transaction of the call. Write through it only, and call no service or model: `execute` may run again. */
  tx: ToolTransaction;
};

/**
 * An object with exactly these fields is a reply. Other values, except strings, are passed to the model as JSON text.
 */
export type ToolReply = {
  /** Text and images. Of text, `limits.tool_result` characters are kept; the rest is cut off, with a note. */
  content: string | ResultPart[];
  /** The call failed. Same as throwing a `ToolError`. For other errors, the model sees only a reference. */
  is_error?: boolean | undefined;
  /** Replaces the content when the conversation is compacted. */
  compact_summary?: string | undefined;
};

/**
 * What a tool returns. The model gets a string unchanged, the content of a `ToolReply`, and any other JSON value
 * (object, array, number, boolean, null) as JSON text. A value that cannot be converted fails the call.
 */
export type ToolReturn = string | number | boolean | null | object;

/** A `once` call that was started and whose end was not recorded. */
export type UnknownCall<Input> = Omit<ToolContext, 'log' | 'progress' | 'step' | 'spawn' | 'enqueue'> & {
  /** The input that `execute` received. */
  input: Input;
};

/** The outcome of the call. `did_not_happen`: it is executed again with the same idempotency key. */
export type Reconciliation =
  | {
      /** The call had its effect. */
      outcome: 'happened';
      /** What `execute` would have returned. */
      result: ToolReturn;
    }
  | {
      /** The call had no effect. */
      outcome: 'did_not_happen';
    }
  | {
      /** It cannot be found out: see `on_unknown`. */
      outcome: 'unknown';
    };

/** The call that an approval function decides. */
export type ApprovalCall<Input = unknown> = CallFacts & {
  /** Of the tool. */
  name: string;
  /** Validated by the tool's schema, including defaults. */
  input: Input;
};
