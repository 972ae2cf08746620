/**
 * A worker's settings. `WorkerConfig` is what a client wrote, stored unchanged. `Settings` is what a run uses: config
 * over role over defaults, with the tools that this process can run.
 */
import type { CompactionConfig, CompactionSettings } from '../compaction/settings.ts';
import type { JsonObject } from '../json.ts';
import type { ModelName, ToolSpec } from '../model/model.ts';
import type { Pinned } from '../conversation/pinned.ts';
import type { OutputSchema, OutputSettings } from '../run/output.ts';
import type { ApprovalRule, Asking } from '../run/policy.ts';
import type { ToolDescriptor } from '../tools/tool.ts';
import type { WorkerLimitsConfig } from './worker-limits.ts';

/** `plan`: only tools without side effects are offered, and answers are plans. */
export const MODES = ['act', 'plan'] as const;
export type Mode = (typeof MODES)[number];

/** A tool that the client runs: a call of it waits until the client sends the result. */
export type ClientTool = ToolSpec;

export type WorkerConfig = {
  /** `provider/model`. */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  mode?: Mode;
  /** Names of tools, including built-in ones (`ask_user`). */
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers in the config file: all their tools are offered. */
  mcp_servers?: string[];
  /**
   * Which tools need approval: `tool` is a name, or a glob with `*`. The first matching rule applies. Rules of a config
   * come before those of its role, and a matching `deny` always applies. No rule lets a call run for which the tool
   * itself asks.
   */
  approval?: ApprovalRule[];
  /** Tokens of one answer. */
  max_tokens?: number;
  /** Maximum tokens of a prompt; beyond it, the conversation is compacted. */
  context_limit?: number;
  /** How prompts are kept within the limit; see docs/conversations.md. */
  compaction?: CompactionConfig;
  /** Texts placed after the system prompt in every prompt. */
  pinned?: Pinned[];
  /** Model calls of one job. */
  max_steps?: number;
  /** A JSON Schema that the answer of each job must match; false: any text, also if the role has one. */
  output_schema?: OutputSchema;
  /** How often the model is asked again after an answer that does not match. */
  output_retries?: number;
  /** Passed to the provider unchanged. */
  parameters?: JsonObject;
  /** Seconds without activity after which its context is archived. */
  idle_timeout_s?: number;
  /** Limits for descendant workers: depth, children per worker, active workers per tree. */
  limits?: WorkerLimitsConfig;
};

/** A named definition that workers are created from. Missing fields take the defaults. */
export type Role = WorkerConfig;

/** Seconds by role name; null: the role sets none. */
export type IdleTimeouts = Readonly<Record<string, number | null>>;

export function idleTimeouts(roles: ReadonlyMap<string, Role>): IdleTimeouts {
  return Object.fromEntries([...roles].map(([name, role]) => [name, role.idle_timeout_s ?? null]));
}

/**
 * The role a worker is created from. `version`: of a role of the API; null: a role of the config file in its current
 * form.
 */
export type WorkerRole = { name: string; version: number | null };

export type Settings = OutputSettings & {
  model: ModelName;
  streaming: boolean;
  systemPrompt: string;
  mode: Mode;
  /** The tools offered to the model, sorted by name. */
  tools: readonly ToolDescriptor[];
  maxTokens: number | null;
  contextLimit: number;
  compaction: CompactionSettings;
  pinned: readonly Pinned[];
  maxSteps: number;
  parameters: JsonObject;
  asking: Asking;
};

/**
 * A worker's config resolved by a process: settings, or the names of what the process does not support, or why the tenant
 * may not run the worker.
 */
export type Serving =
  | { kind: 'served'; settings: Settings }
  | { kind: 'unsupported'; missing: string[] }
  | { kind: 'not_allowed'; message: string; output: OutputSettings };
