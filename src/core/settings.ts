/**
 * A worker's settings. `WorkerConfig` is what a client wrote (kept as written); `Settings` is what holds for a run:
 * config over role over defaults, with the tools that this process can run.
 */
import type { CompactionConfig, CompactionSettings } from './compaction/settings.ts';
import type { JsonObject } from './json.ts';
import type { ModelName, ToolSpec } from './model.ts';
import type { Pinned } from './pinned.ts';
import type { ApprovalRule, Asking } from './policy.ts';
import type { ToolDescriptor } from './tool.ts';
import type { WorkerLimitsConfig } from './worker-limits.ts';

/** `plan`: only tools without effect are offered, and answers are plans. */
export const MODES = ['act', 'plan'] as const;
export type Mode = (typeof MODES)[number];

/** A tool that the client runs itself: a call of it waits until the client brings the result. */
export type ClientTool = ToolSpec;

export type WorkerConfig = {
  /** `provider/model`. */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  mode?: Mode;
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers of the config file: all that they offer is offered. */
  mcp_servers?: string[];
  /** Before which tools a person is asked: the first that names a tool holds, and `deny` before all. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Tokens of a prompt. */
  context_limit?: number;
  compaction?: CompactionConfig;
  pinned?: Pinned[];
  max_steps?: number;
  parameters?: JsonObject;
  /** Seconds after which its context is archived, where nothing happens in it. */
  idle_timeout_s?: number;
  /** For workers below it. */
  limits?: WorkerLimitsConfig;
};

/** A named definition that workers are made from; what it leaves out falls to the defaults. */
export type Role = WorkerConfig;

/** Seconds by the name of a role; null: it names none. */
export type IdleTimeouts = Readonly<Record<string, number | null>>;

export function idleTimeouts(roles: ReadonlyMap<string, Role>): IdleTimeouts {
  return Object.fromEntries([...roles].map(([name, role]) => [name, role.idle_timeout_s ?? null]));
}

/** Which one a worker is made from. `version`: of a role of the API; null: of the config file, as it stands there. */
export type WorkerRole = { name: string; version: number | null };

export type Settings = {
  model: ModelName;
  streaming: boolean;
  systemPrompt: string;
  mode: Mode;
  /** Those that are offered. Sorted by name. */
  tools: readonly ToolDescriptor[];
  maxTokens: number | null;
  /** Tokens of a prompt. */
  contextLimit: number;
  compaction: CompactionSettings;
  pinned: readonly Pinned[];
  maxSteps: number;
  parameters: JsonObject;
  asking: Asking;
};

/** What a process makes of a worker's config: settings, or the names of what it cannot serve. */
export type Serving = { kind: 'served'; settings: Settings } | { kind: 'unsupported'; missing: string[] };
