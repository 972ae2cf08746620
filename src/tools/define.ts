/**
 * What an operator writes in `nightshift.config.ts`. `defineConfig` and `defineTool` give their argument back as it is:
 * they only type it, so that `execute` knows its input from the tool's own schema. A plain object does as well;
 * everything is checked when the file is loaded.
 */
import type { ResultPart } from '../core/blocks.ts';
import type { JsonObject } from '../core/json.ts';
import type { Approval, ApprovalRule } from '../core/policy.ts';
import type { Effect } from '../core/tool.ts';
import type { LimitDefinitions } from './define-limits.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';

/** What a tool is told of the call it answers. */
export type ToolContext = {
  /** Aborted when the call is cancelled or timed out. What the tool gives back after that is dropped. */
  signal: AbortSignal;
  /** The same at every execution of this call: hand it on to what you call, so that a repetition changes nothing. */
  idempotency_key: string;
  tool_call_id: string;
  job_id: string;
  worker_id: string;
  context_id: string;
  /** Says how far it is, in a line for a person. Kept nowhere. */
  progress: (text: string) => void;
};

/** An object of exactly this shape is a reply; any other value than a string is given to the model as JSON text. */
export type ToolReply = {
  content: string | ResultPart[];
  /** The model is told that the call failed. Throwing a `ToolError` does the same; of anything else thrown it is told a reference only. */
  is_error?: boolean | undefined;
  /** What stands for the content once it is compacted. */
  compact_summary?: string | undefined;
};

/** A `ToolReply`, text, or any value that JSON can hold: the model is given its JSON text. */
export type ToolReturn = string | number | boolean | null | object;

/** A `once` call that was begun and that nobody saw end. */
export type UnknownCall<Input> = Omit<ToolContext, 'progress'> & {
  /** What `execute` was given. */
  input: Input;
};

/** What became of it. `did_not_happen`: it is run anew, with the same idempotency key. */
export type Reconciliation =
  | { outcome: 'happened'; result: ToolReturn }
  | { outcome: 'did_not_happen' }
  | { outcome: 'unknown' };

type ToolBase = {
  /** `^[a-zA-Z0-9_-]{1,64}$`, and no other tool's. */
  name: string;
  /** What the model knows of the tool: what it does, when to use it. */
  description: string;
  /**
   * What running it again would do. `none`: nothing. `idempotent`: nothing new, given the same idempotency key.
   * `once`: harm; after a crash in the middle of the call it is not repeated unless somebody who knows says that it had not
   * happened.
   */
  effect: Effect;
  /**
   * What becomes of a `once` call that was cut off where `reconcile` does not know: the model is told (the default), or the
   * call waits for a person, who says what happened.
   */
  on_unknown?: 'tell' | 'ask' | undefined;
  /** Milliseconds; without it `limits.tool_timeout_ms` holds. A tool that blocks its thread cannot be stopped. */
  timeout_ms?: number | undefined;
};

/** What a predicate is told of the call that it judges. */
export type ApprovalCall<Input = unknown> = {
  name: string;
  /** Checked by the tool's schema, with its defaults. */
  input: Input;
  tool_call_id: string;
  job_id: string;
  worker_id: string;
  context_id: string;
};

/**
 * Whether a person is asked before the tool runs: `never` (where nothing is said), `always`, or not at all (`deny`: the model
 * is told so). A function decides by the call; one that throws, takes longer than ten seconds or gives back anything else
 * asks. Rules of a role or a config go before this, but for `deny`, which nobody takes back.
 */
export type ToolApproval<Input = unknown> = Approval | Judges<Input>['judge'];

/** A method, so that a tool of any schema is a tool. */
type Judges<Input> = { judge(call: ApprovalCall<Input>): Approval | Promise<Approval> };

/** A tool whose input is described by a schema of zod (4.2 or newer), or of any library of that standard. */
export type SchemaTool<Schema extends StandardSchema> = ToolBase & {
  input: Schema;
  input_schema?: undefined;
  approval?: ToolApproval<OutputOf<Schema>> | undefined;
  /** `input` is what the schema made of the model's arguments: checked, with its defaults. */
  execute(input: OutputOf<Schema>, context: ToolContext): ToolReturn | Promise<ToolReturn>;
  /** Looks up what became of a call; changes nothing, and may be asked more than once. For tools with effect `once`. */
  reconcile?(call: UnknownCall<OutputOf<Schema>>): Reconciliation | Promise<Reconciliation>;
};

/** A tool whose input is described by a JSON Schema (draft 2020-12 or 7) of an object. */
export type JsonSchemaTool = ToolBase & {
  input?: undefined;
  input_schema: object;
  approval?: ToolApproval<JsonObject> | undefined;
  /** `input` matches `input_schema`; annotate it with the type that the schema describes. */
  execute(input: JsonObject, context: ToolContext): ToolReturn | Promise<ToolReturn>;
  /** Looks up what became of a call; changes nothing, and may be asked more than once. For tools with effect `once`. */
  reconcile?(call: UnknownCall<JsonObject>): Reconciliation | Promise<Reconciliation>;
};

export type ToolDefinition = SchemaTool<StandardSchema> | JsonSchemaTool;

/** The tool that `Schema` describes; without one, a tool of a JSON Schema. */
type ToolOf<Schema> = Schema extends StandardSchema ? SchemaTool<Schema> : JsonSchemaTool;

export type ClientToolDefinition = {
  name: string;
  description: string;
  /** A JSON Schema (draft 2020-12 or 7) of an object. */
  input_schema: object;
};

/** A worker is made from a role; its own config goes before. What neither says falls to the defaults. */
export type RoleDefinition = {
  system_prompt?: string | undefined;
  /** `provider/model`. */
  model?: string | undefined;
  streaming?: boolean | undefined;
  /** In `plan` only tools with `effect: 'none'` are offered, and answers are plans. */
  mode?: 'act' | 'plan' | undefined;
  /** Names of tools, built-in ones (`ask_user`) too. */
  tools?: readonly string[] | undefined;
  /** Tools that clients run: a call waits for the result that a client brings. */
  client_tools?: readonly ClientToolDefinition[] | undefined;
  /** Names of MCP servers: all the tools that they offer. */
  mcp_servers?: readonly string[] | undefined;
  /**
   * Before which tools a person is asked: `tool` is a name, or a glob with `*`. The first that names a tool holds; a config's
   * rules go before these, and `deny` before all.
   */
  approval?: readonly ApprovalRule[] | undefined;
  /** Model calls of one job. */
  max_steps?: number | undefined;
  /** Tokens of one answer. */
  max_tokens?: number | undefined;
  /** Tokens of a prompt; what is beyond is compacted. */
  context_limit?: number | undefined;
  /** How a prompt is kept within its limit; see docs/conversations.md. */
  compaction?:
    | {
        type?: 'threshold' | 'llm' | 'none' | undefined;
        /** Share of the limit at which older messages are compacted: 0.8. */
        threshold?: number | undefined;
        /** Turns that stay whole: 4. */
        keep_turns?: number | undefined;
        /** `provider/model` that summarises; without it the one that answers. */
        model?: string | undefined;
      }
    | undefined;
  /** Stands behind the system prompt in every prompt. */
  pinned?: readonly { title: string; text: string }[] | undefined;
  /** Passed to the provider as they are. */
  parameters?: object | undefined;
  /** Seconds after which a context is archived, where nothing happens in it. */
  idle_timeout_s?: number | undefined;
  /** For workers below it: how deep they may be, how many children one may have, how many of a tree may be at work. */
  limits?:
    | { depth?: number | undefined; children?: number | undefined; workers?: number | undefined }
    | undefined;
};

type McpServerBase = {
  /** Which of its tools are offered: their own names, with `*` for any characters. Without it all of them. */
  tools?: readonly string[] | undefined;
  /** Whether a person is asked before any of its tools runs; without it as each tool's annotations say. */
  approval?: 'never' | 'always' | 'deny' | undefined;
  /** What it is told when it asks a person: no (the default), or the defaults of its own question. */
  elicitation?: 'decline' | 'defaults' | undefined;
  /** Milliseconds until it has to have said what tools it has: 20000. */
  start_timeout_ms?: number | undefined;
  /** Milliseconds that a call may go without a word of progress: 60000. */
  timeout_ms?: number | undefined;
  /** Milliseconds that a call may take at all: 600000. */
  max_timeout_ms?: number | undefined;
};

/** A process of its own, spoken to over its standard streams. */
export type McpCommandDefinition = McpServerBase & {
  /** Started without a shell. */
  command: string;
  args?: readonly string[] | undefined;
  /** All that it sees of an environment, but for PATH, HOME and the like. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Without it the directory that the worker process runs in. */
  cwd?: string | undefined;
  url?: undefined;
};

/** One that is reached over streamable HTTP. */
export type McpUrlDefinition = McpServerBase & {
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  command?: undefined;
};

export type McpServerDefinition = McpCommandDefinition | McpUrlDefinition;

/** US dollars for a million tokens, with six decimals at most. Say 0 of what the provider does not charge. */
export type PriceDefinition = {
  /** Without those that caches served or took. */
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
};

export type OperatorConfig = {
  tools?: readonly ToolDefinition[] | undefined;
  /** By name. */
  roles?: Readonly<Record<string, RoleDefinition>> | undefined;
  /** By name; tools are named `name__tool`. */
  mcp_servers?: Readonly<Record<string, McpServerDefinition>> | undefined;
  limits?: LimitDefinitions | undefined;
  /** By `provider/model`, as configs name it; what a model costs that is not here is not known. */
  prices?: Readonly<Record<string, PriceDefinition>> | undefined;
};

/** Types the config file, each tool's `execute` by its own schema. */
export function defineConfig<const Schemas extends readonly unknown[]>(
  config: Omit<OperatorConfig, 'tools'> & { tools?: { [At in keyof Schemas]: ToolOf<Schemas[At]> } },
): typeof config {
  return config;
}

/** Types one tool that stands outside the list, in a file of its own. */
export function defineTool<Schema extends StandardSchema>(tool: SchemaTool<Schema>): SchemaTool<Schema>;
export function defineTool(tool: JsonSchemaTool): JsonSchemaTool;
export function defineTool<Tool>(tool: Tool): Tool {
  return tool;
}
