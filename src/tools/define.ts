/**
 * What an operator writes in `nightshift.config.ts`. `defineConfig` and `defineTool` give their argument back as it is:
 * they only type it, so that `execute` knows its input from the tool's own schema. A plain object does as well;
 * everything is checked when the file is loaded.
 */
import type { ResultPart } from '../core/blocks.ts';
import type { JsonObject } from '../core/json.ts';
import type { Effect } from '../core/tool.ts';
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
  /** The model is told that the call failed. Throwing does the same. */
  is_error?: boolean | undefined;
  /** What stands for the content once it is compacted. */
  compact_summary?: string | undefined;
};

export type ToolReturn = string | ToolReply;

type ToolBase = {
  /** `^[a-zA-Z0-9_-]{1,64}$`, and no other tool's. */
  name: string;
  /** What the model knows of the tool: what it does, when to use it. */
  description: string;
  /**
   * What running it again would do. `none`: nothing. `idempotent`: nothing new, given the same idempotency key.
   * `once`: harm; after a crash in the middle of the call it is never repeated, and the model is told so.
   */
  effect: Effect;
  /** Asking a person first is not built yet. */
  approval?: 'never' | undefined;
  /** Asking a person about a `once` call that a crash cut off is not built yet: the model is told. */
  on_unknown?: 'tell' | undefined;
  /** Milliseconds; without it `limits.tool_timeout_ms` holds. A tool that blocks its thread cannot be stopped. */
  timeout_ms?: number | undefined;
};

/** A tool whose input is described by a schema of zod (4.2 or newer), or of any library of that standard. */
export type SchemaTool<Schema extends StandardSchema> = ToolBase & {
  input: Schema;
  input_schema?: undefined;
  /** `input` is what the schema made of the model's arguments: checked, with its defaults. */
  execute(input: OutputOf<Schema>, context: ToolContext): ToolReturn | Promise<ToolReturn>;
};

/** A tool whose input is described by a JSON Schema (draft 2020-12 or 7) of an object. */
export type JsonSchemaTool = ToolBase & {
  input?: undefined;
  input_schema: object;
  /** `input` matches `input_schema`; annotate it with the type that the schema describes. */
  execute(input: JsonObject, context: ToolContext): ToolReturn | Promise<ToolReturn>;
};

export type ToolDefinition = SchemaTool<StandardSchema> | JsonSchemaTool;

/** The tool that `Schema` describes; without one, a tool of a JSON Schema. */
type ToolOf<Schema> = Schema extends StandardSchema ? SchemaTool<Schema> : JsonSchemaTool;

/** A worker is made from a role; its own config goes before. What neither says falls to the defaults. */
export type RoleDefinition = {
  system_prompt?: string | undefined;
  /** `provider/model`. */
  model?: string | undefined;
  streaming?: boolean | undefined;
  mode?: 'act' | undefined;
  /** Names of tools. */
  tools?: readonly string[] | undefined;
  /** Model calls of one job. */
  max_steps?: number | undefined;
  /** Tokens of one answer. */
  max_tokens?: number | undefined;
  /** Passed to the provider as they are. */
  parameters?: object | undefined;
};

/** Sizes are in UTF-16 units. */
export type LimitDefinitions = {
  /** Queued inputs of one context. */
  queued_inputs?: number | undefined;
  /** Model calls of one job. */
  max_steps?: number | undefined;
  /** Characters of one tool result; the rest is cut, with a note. */
  tool_result?: number | undefined;
  /** Milliseconds a tool may take. */
  tool_timeout_ms?: number | undefined;
};

export type OperatorConfig = {
  tools?: readonly ToolDefinition[] | undefined;
  /** By name. */
  roles?: Readonly<Record<string, RoleDefinition>> | undefined;
  limits?: LimitDefinitions | undefined;
};

/** Types the operator's file, each tool's `execute` by its own schema. */
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
