/**
 * Types of `nightshift.config.ts`. `defineConfig` and `defineTool` return their argument unchanged; they only add
 * types, so that `execute` gets its input type from the tool's schema. A plain object works as well. Everything is
 * checked when the file is loaded.
 */
import type { Approval } from '../../core/run/policy.ts';
import type { Effect } from '../../core/tools/tool.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import type { UsedToolPackage } from '../packages/used-package.ts';
import type { McpServerDefinition } from '../mcp/settings/servers.ts';
import type { InputOf } from './json-schema-input.ts';
import type { LimitDefinitions } from './limits.ts';
import type { OutboxDefinition } from './sections/outboxes.ts';
import type { OidcDefinition } from './sections/oidc.ts';
import type { PriceDefinition } from './sections/prices.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { Written } from './written.ts';
import type {
  ApprovalCall,
  Reconciliation,
  ToolContext,
  ToolReturn,
  TransactionalContext,
  UnknownCall,
} from '../registry/tool-context.ts';

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
