/**
 * Types of `nightshift.config.ts`. `defineConfig` and `defineTool` return their argument unchanged; they only add
 * types, so that `execute` gets its input type from the tool's schema. A plain object works as well. Everything is
 * checked when the file is loaded.
 */
import type { ResultPart } from '../../core/conversation/blocks.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Approval } from '../../core/run/policy.ts';
import type { Effect } from '../../core/tools/tool.ts';
import type { ToolTransaction } from '../../core/tools/transaction.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import type { EnqueueInput, SpawnWorker } from '../durable/start-types.ts';
import type { RunStep } from '../durable/step-types.ts';
import type { UsedToolPackage } from '../packages/used-package.ts';
import type { McpServerDefinition } from '../mcp/settings/servers.ts';
import type { InputOf } from './json-schema-input.ts';
import type { LimitDefinitions } from './limits.ts';
import type { OutboxDefinition } from './sections/outboxes.ts';
import type { OidcDefinition } from './sections/oidc.ts';
import type { PriceDefinition } from './sections/prices.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { Written } from './written.ts';

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

type ToolBase = {
  /** 1 to 64 letters, digits, `_` or `-`; must be unique. */
  name: string;
  /** The description for the model: what the tool does and when to use it. */
  description: string;
  /** Milliseconds. Default: `limits.tool_timeout_ms`. A tool that blocks its thread cannot be stopped. */
  timeout_ms?: number | undefined;
};

/** `execute` may have effects anywhere. */
type Plain<Input> = {
  transactional?: false | undefined;
  /**
   * The effect of executing the call again. `none`: none. `idempotent`: none, given the same idempotency key. `once`:
   * harmful; after a crash during the call it is not repeated, unless `reconcile` or a person confirms that it did not
   * happen.
   */
  effect: Effect;
  /**
   * How to handle an interrupted `once` call if `reconcile` does not know its outcome: `tell` the model (default), or
   * `ask`: the call waits for a person to resolve it.
   */
  on_unknown?: 'tell' | 'ask' | undefined;
  /**
   * `input`: the validated arguments; with a Standard Schema including defaults. The type of a JSON Schema is inferred from
   * a literal; annotate it for one that is declared elsewhere without `as const`.
   */
  execute(input: Input, context: ToolContext): ToolReturn | Promise<ToolReturn>;
  /**
   * Finds out the outcome of a call. Must not change anything; may run more than once. For tools with effect `once`.
   */
  reconcile?(call: UnknownCall<Input>): Reconciliation | Promise<Reconciliation>;
};

/** `execute` works in a transaction of its own, which also stores its result: it happens exactly once. */
type Transactional<Input> = {
  /** Needs `NIGHTSHIFT_TOOLS_DATABASE_URL`. Takes the place of `effect`. */
  transactional: true;
  effect?: undefined;
  on_unknown?: undefined;
  /** It commits if it returns, and rolls back if it throws, returns an error, or does not return in time. */
  execute(input: Input, context: TransactionalContext): ToolReturn | Promise<ToolReturn>;
  reconcile?: undefined;
};

/** The call that an approval function decides. */
export type ApprovalCall<Input = unknown> = CallFacts & {
  /** Of the tool. */
  name: string;
  /** Validated by the tool's schema, including defaults. */
  input: Input;
};

/**
 * Whether the tool needs approval: `never` (default), `always`, or `deny`: refused, and the model gets the denial as
 * result. A function decides per call; if it throws, takes longer than ten seconds or returns anything else, approval
 * is needed. Rules of a role or config can make it stricter, but not laxer.
 */
export type ToolApproval<Input = unknown> = Approval | Judges<Input>['judge'];
/** A method type, so that tools with any schema are assignable. */
type Judges<Input> = {
  /** Decides whether this call needs approval. */
  judge(call: ApprovalCall<Input>): Approval | Promise<Approval>;
};

/**
 * A tool whose input is described by a schema of a library that implements Standard Schema and Standard JSON Schema:
 * zod (4.2 or newer), ArkType (2.1.28 or newer), Valibot (in `toStandardJsonSchema` of `@valibot/to-json-schema`). It
 * must describe an object.
 */
export type SchemaTool<Schema extends StandardSchema> = BySchema<Schema> & Plain<OutputOf<Schema>>;
/** The same, in a transaction. */
export type TransactionalSchemaTool<Schema extends StandardSchema> = BySchema<Schema> & Transactional<OutputOf<Schema>>;
type BySchema<Schema extends StandardSchema> = ToolBase & {
  /** The schema of the arguments, which must be an object. */
  input: Schema;
  /** Of this kind of tool there is none: see `JsonSchemaTool`. */
  input_schema?: undefined;
  /** Whether calls need approval. Default: `never`. */
  approval?: ToolApproval<OutputOf<Schema>> | undefined;
};

/** A tool whose input is described by a JSON Schema (draft 2020-12 or 7) of an object, or one of TypeBox. */
export type JsonSchemaTool<Schema extends object = object> = ByJsonSchema<Schema> & Plain<InputOf<Schema>>;
/** The same, in a transaction. */
export type TransactionalJsonSchemaTool<Schema extends object = object> = ByJsonSchema<Schema> &
  Transactional<InputOf<Schema>>;
type ByJsonSchema<Schema extends object> = ToolBase & {
  /** Of this kind of tool there is none: see `SchemaTool`. */
  input?: undefined;
  /** The JSON Schema of the arguments, which must be an object. */
  input_schema: Schema;
  /** Whether calls need approval. Default: `never`. */
  approval?: ToolApproval<InputOf<Schema>> | undefined;
};

/** A tool with any schema. */
export type ToolDefinition =
  | SchemaTool<StandardSchema>
  | TransactionalSchemaTool<StandardSchema>
  | JsonSchemaTool
  | TransactionalJsonSchemaTool;

/** The tool type for a Standard Schema; a tool with a JSON Schema; or, in a list of any kind, either, or a package. */
type ToolOf<Schema> = Schema extends StandardSchema
  ? SchemaTool<Schema> | TransactionalSchemaTool<Schema>
  : object extends Schema
    ? ToolDefinition | UsedToolPackage
    :
        | JsonSchemaTool<Schema extends object ? Schema : object>
        | TransactionalJsonSchemaTool<Schema extends object ? Schema : object>;

/** A template for workers. Its fields are those of a worker's config; missing ones take the defaults. */
export type RoleDefinition = Written<WorkerConfig>;

/** What `nightshift.config.ts` exports. docs/configuration.md describes every key. */
export type OperatorConfig = {
  /** Functions that models can call, and packages of them. A worker gets those that its role or its config names. */
  tools?: readonly (ToolDefinition | UsedToolPackage)[] | undefined;
  /** Templates for workers, by name. */
  roles?: Readonly<Record<string, RoleDefinition>> | undefined;
  /** By server name. Their tools are named `name__tool`. */
  mcp_servers?: Readonly<Record<string, McpServerDefinition>> | undefined;
  /** Limits of the installation. */
  limits?: LimitDefinitions | undefined;
  /** By `provider/model`, as used in configs. The cost of other models is unknown. */
  prices?: Readonly<Record<string, PriceDefinition>> | undefined;
  /** Who may sign in to the console with OpenID Connect. */
  oidc?: OidcDefinition | undefined;
  /** Outboxes of services with a database of their own, by a name of yours. Worker processes relay them. */
  outboxes?: Readonly<Record<string, OutboxDefinition>> | undefined;
};

/**
 * Types the config file, and returns it unchanged: `export default defineConfig({ … })`. Each tool's `execute` is typed
 * by its own schema. The file is checked when a process loads it; all faults are reported together.
 */
export function defineConfig<const Schemas extends readonly unknown[]>(
  config: Omit<OperatorConfig, 'tools'> & {
    /** Functions that models can call. A worker gets those that its role or its config names. */
    tools?: { [At in keyof Schemas]: ToolOf<Schemas[At]> };
  },
): typeof config {
  return config;
}

/** Types a transactional tool. Its `execute` gets `tx` in its context. Returns the tool unchanged. */
export function defineTool<Schema extends StandardSchema>(
  tool: TransactionalSchemaTool<Schema>,
): TransactionalSchemaTool<Schema>;
/** The same for a transactional tool whose input is described by a JSON Schema or a schema of TypeBox. */
export function defineTool<const Schema extends object>(
  tool: TransactionalJsonSchemaTool<Schema>,
): TransactionalJsonSchemaTool<Schema>;
/**
 * Types a single tool that is defined outside the list: in a file of its own, or in a package. `execute`, `approval` and
 * `reconcile` get the type of the input from the schema. Returns the tool unchanged.
 */
export function defineTool<Schema extends StandardSchema>(tool: SchemaTool<Schema>): SchemaTool<Schema>;
/** The same for a tool whose input is described by a JSON Schema or a schema of TypeBox (`input_schema`). */
export function defineTool<const Schema extends object>(tool: JsonSchemaTool<Schema>): JsonSchemaTool<Schema>;
export function defineTool<Tool>(tool: Tool): Tool {
  return tool;
}
