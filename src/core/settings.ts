/**
 * A worker's settings. `WorkerConfig` is what a client wrote (kept as written); `Settings` is what holds for a run:
 * config over role over defaults, with the tools that this process can run.
 */
import type { JsonObject } from './json.ts';
import type { ModelName } from './model.ts';
import type { ToolDescriptor } from './tool.ts';

export type WorkerConfig = {
  /** `provider/model`. */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  mode?: 'act';
  tools?: string[];
  max_tokens?: number;
  max_steps?: number;
  parameters?: JsonObject;
};

/** A named definition that workers are made from; what it leaves out falls to the defaults. */
export type Role = WorkerConfig;

/** Which one a worker is made from. `version`: of a role of the API; null: of the operator's file, as it stands there. */
export type WorkerRole = { name: string; version: number | null };

export type Settings = {
  model: ModelName;
  streaming: boolean;
  systemPrompt: string;
  /** Sorted by name. */
  tools: readonly ToolDescriptor[];
  maxTokens: number | null;
  maxSteps: number;
  parameters: JsonObject;
};

/** What a process makes of a worker's config: settings, or the names of what it cannot serve. */
export type Serving = { kind: 'served'; settings: Settings } | { kind: 'unserved'; missing: string[] };

/** Parameters that a client may not set: they are the platform's own. */
export const RESERVED_PARAMETERS = [
  'model',
  'messages',
  'input',
  'stream',
  'tools',
  'n',
  'store',
  'background',
] as const;
