/** What this installation is, as the process that assembled it knows it; nothing of it is secret. */
import type { Prices } from '../core/cost.ts';
import type { ProviderName } from '../core/model.ts';
import type { Approval } from '../core/policy.ts';
import type { Effect } from '../core/tool.ts';

/** `source`: of the config file, of the platform, or of an MCP server. `by_call`: the tool says for each call. */
export type ToolAbout = {
  name: string;
  description: string;
  effect: Effect;
  approval: Approval | 'by_call';
  source: 'own' | 'built_in' | 'mcp';
};

/** `tools` null: this process does not run the server, and what it offers is not known here. */
export type ServerAbout = { name: string; tools: readonly ToolAbout[] | null };

/** What holds where no config and no role says less; null: no limit. */
export type LimitsAbout = {
  queued_inputs: number;
  max_steps: number;
  tool_result: number;
  tool_timeout_ms: number;
  depth: number;
  children: number;
  workers: number;
  tenant_workers: number | null;
  hops: number;
  messages_per_minute: number;
  archived_days: number | null;
  import_bytes: number;
  streams: number;
};

export type About = {
  version: string;
  /** `laptop`: one process is everything. */
  mode: 'laptop' | 'production';
  /** Those that could be called from here. */
  providers: readonly ProviderName[];
  defaultModel: string;
  prices: Prices;
  tools: readonly ToolAbout[];
  limits: LimitsAbout;
  /** As it is now: servers come and go. */
  servers(): readonly ServerAbout[];
};
