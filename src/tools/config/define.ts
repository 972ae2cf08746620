/**
 * Types of `nightshift.config.ts`. `defineConfig` and `defineTool` return their argument unchanged; they only add
 * types, so that `execute` gets its input type from the tool's schema. A plain object works as well. Everything is
 * checked when the file is loaded.
 */
import type { ResultPart } from '../../core/conversation/blocks.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Approval } from '../../core/run/policy.ts';
import type { Effect } from '../../core/tools/tool.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import type { McpServerDefinition } from '../mcp/settings/servers.ts';
import type { LimitDefinitions } from './limits.ts';
import type { OidcDefinition } from './sections/oidc.ts';
import type { PriceDefinition } from './sections/prices.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { Written } from './written.ts';

/** Information about the call that a tool executes. */
export type ToolContext = {
  /** Aborted when the call is cancelled or times out. Later results are dropped. */
  signal: AbortSignal;
  /**
   * The same at every execution of this call. Pass it to the services you call, so that repeating the call has no
   * effect.
   */
  idempotency_key: string;
  /** The name of the tenant that the call belongs to. */
  tenant: string;
  /** The end user on whose behalf the job runs; null: none. */
  user: string | null;
  /** The `metadata` of the job, as the client gave it with the input; `{}`: none. */
  metadata: JsonObject;
  tool_call_id: string;
  job_id: string;
  worker_id: string;
  context_id: string;
  /** Reports progress as a line of text. It is not stored. */
  progress: (text: string) => void;
};

/**
 * An object with exactly these fields is a reply. Other values, except strings, are passed to the model as JSON text.
 */
export type ToolReply = {
  content: string | ResultPart[];
  /** The call failed. Same as throwing a `ToolError`. For other errors, the model sees only a reference. */
  is_error?: boolean | undefined;
  /** Replaces the content when the conversation is compacted. */
  compact_summary?: string | undefined;
};

/** A `ToolReply`, a string, or any JSON value, which is passed to the model as JSON text. */
export type ToolReturn = string | number | boolean | null | object;

/** A `once` call that was started and whose end was not recorded. */
export type UnknownCall<Input> = Omit<ToolContext, 'progress'> & {
  /** The input that `execute` received. */
  input: Input;
};

/** The outcome of the call. `did_not_happen`: it is executed again with the same idempotency key. */
export type Reconciliation =
  | { outcome: 'happened'; result: ToolReturn }
  | { outcome: 'did_not_happen' }
  | { outcome: 'unknown' };

type ToolBase = {
  /** `^[a-zA-Z0-9_-]{1,64}$`; must be unique. */
  name: string;
  /** The description for the model: what the tool does and when to use it. */
  description: string;
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
  /** Milliseconds. Default: `limits.tool_timeout_ms`. A tool that blocks its thread cannot be stopped. */
  timeout_ms?: number | undefined;
};

/** The call that an approval function decides. */
export type ApprovalCall<Input = unknown> = {
  name: string;
  /** Validated by the tool's schema, including defaults. */
  input: Input;
  /** The name of the tenant that the call belongs to. */
  tenant: string;
  /** The end user on whose behalf the job runs; null: none. */
  user: string | null;
  /** The `metadata` of the job, as the client gave it with the input; `{}`: none. */
  metadata: JsonObject;
  tool_call_id: string;
  job_id: string;
  worker_id: string;
  context_id: string;
};

/**
 * Whether the tool needs approval: `never` (default), `always`, or `deny`: refused, and the model gets the denial as
 * result. A function decides per call; if it throws, takes longer than ten seconds or returns anything else, approval
 * is needed. Rules of a role or config can make it stricter, but not laxer.
 */
export type ToolApproval<Input = unknown> = Approval | Judges<Input>['judge'];
/** A method type, so that tools with any schema are assignable. */
type Judges<Input> = { judge(call: ApprovalCall<Input>): Approval | Promise<Approval> };

/** A tool whose input is described by a zod schema (4.2 or newer), or any Standard JSON Schema library. */
export type SchemaTool<Schema extends StandardSchema> = ToolBase & {
  input: Schema;
  input_schema?: undefined;
  approval?: ToolApproval<OutputOf<Schema>> | undefined;
  /** `input`: the validated arguments, including defaults. */
  execute(input: OutputOf<Schema>, context: ToolContext): ToolReturn | Promise<ToolReturn>;
  /**
   * Finds out the outcome of a call. Must not change anything; may run more than once. For tools with effect `once`.
   */
  reconcile?(call: UnknownCall<OutputOf<Schema>>): Reconciliation | Promise<Reconciliation>;
};

/** A tool whose input is described by a JSON Schema (draft 2020-12 or 7) of an object. */
export type JsonSchemaTool = ToolBase & {
  input?: undefined;
  input_schema: object;
  approval?: ToolApproval<JsonObject> | undefined;
  /** `input` matches `input_schema`. Annotate it with the type that the schema describes. */
  execute(input: JsonObject, context: ToolContext): ToolReturn | Promise<ToolReturn>;
  /**
   * Finds out the outcome of a call. Must not change anything; may run more than once. For tools with effect `once`.
   */
  reconcile?(call: UnknownCall<JsonObject>): Reconciliation | Promise<Reconciliation>;
};

export type ToolDefinition = SchemaTool<StandardSchema> | JsonSchemaTool;

/** The tool type for a Standard Schema; otherwise a tool with a JSON Schema. */
type ToolOf<Schema> = Schema extends StandardSchema ? SchemaTool<Schema> : JsonSchemaTool;

/** See `WorkerConfig` for the fields. */
export type RoleDefinition = Written<WorkerConfig>;

export type OperatorConfig = {
  tools?: readonly ToolDefinition[] | undefined;
  /** By role name. */
  roles?: Readonly<Record<string, RoleDefinition>> | undefined;
  /** By server name. Their tools are named `name__tool`. */
  mcp_servers?: Readonly<Record<string, McpServerDefinition>> | undefined;
  limits?: LimitDefinitions | undefined;
  /** By `provider/model`, as used in configs. The cost of other models is unknown. */
  prices?: Readonly<Record<string, PriceDefinition>> | undefined;
  /** Who may sign in to the console with OpenID Connect. */
  oidc?: OidcDefinition | undefined;
};

/** Types the config file; each tool's `execute` is typed by its own schema. */
export function defineConfig<const Schemas extends readonly unknown[]>(
  config: Omit<OperatorConfig, 'tools'> & { tools?: { [At in keyof Schemas]: ToolOf<Schemas[At]> } },
): typeof config {
  return config;
}

/** Types a single tool that is defined outside the list. */
export function defineTool<Schema extends StandardSchema>(tool: SchemaTool<Schema>): SchemaTool<Schema>;
export function defineTool(tool: JsonSchemaTool): JsonSchemaTool;
export function defineTool<Tool>(tool: Tool): Tool {
  return tool;
}
