/** What a client is told of the settings that apply to a worker or a role, and of its tools. */
import type { Allow } from '../access/tenant.ts';
import type { Effect } from '../tools/tool.ts';
import type { EffectiveRule, EffectiveSettings } from './effective.ts';
import type { Role, WorkerConfig } from './settings.ts';
import type { Origins } from './layers.ts';
import type { Source } from './source.ts';
import type { EffectiveLimits } from './worker-limits.ts';

/** A worker without a role, one with a role of the config file or of the API, or such a role alone. */
export type Explained = {
  config: WorkerConfig;
  /** The name of the role; null: there is none. */
  role: string | null;
  /** The name of a role in the config file, or the definition of a role of the API. */
  from: string | Role | null;
  /** Whose own settings are those that it can remove. */
  own: 'worker' | 'role';
  allow: Allow;
};

/**
 * `offered`: the model gets it. `plan_mode`: not in this mode. `not_allowed`: the tenant may not use it. `unknown`: this
 * process does not have it.
 */
export const TOOL_STATES = ['offered', 'plan_mode', 'not_allowed', 'unknown'] as const;

/** `by_call`: the tool decides for each call. */
export const TOOL_APPROVALS = ['never', 'always', 'deny', 'by_call'] as const;

export const TOOL_FIELDS = ['tools', 'mcp_servers', 'client_tools'] as const;

export type EffectiveTool = {
  name: string;
  /** The field of the config that names the tool, or its server. */
  field: (typeof TOOL_FIELDS)[number];
  /** Where this field comes from. */
  source: Source;
  state: (typeof TOOL_STATES)[number];
  effect: Effect | null;
  approval: (typeof TOOL_APPROVALS)[number];
  /** The rule that decides; null: the tool itself, or nothing, asks. */
  rule: EffectiveRule | null;
};

type Settings = Omit<EffectiveSettings, 'approval'>;

/** `inherited`: what applies to a setting if its own value is removed; null: it has none. */
export type ExplainedSettings = {
  [Member in keyof Settings]: Settings[Member] & { inherited: Settings[Member] | null };
};

export type Effective = {
  settings: ExplainedSettings;
  approval: EffectiveRule[];
  limits: EffectiveLimits;
  tools: EffectiveTool[];
  /** MCP servers that this process has not connected to, so that their tools are not in the list. */
  unknownServers: string[];
  /** Why every job with these settings fails: the tenant may not use the role, or a model. Null: it may. */
  notAllowed: string | null;
};

/** Null: this process does not know the role, or the provider of the model. */
export type Explain = (explained: Explained) => Effective | null;

/** What the operator has set, for all workers. */
export type Installation = { origins: Origins; limits: EffectiveLimits };
