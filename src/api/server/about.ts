/** Describes this installation, as the API process knows it at start. Holds no secrets. */
import type { Static } from 'typebox';
import type { Prices } from '../../core/money/cost.ts';
import type { ProviderName } from '../../core/model/model.ts';
import type { Approval } from '../../core/run/policy.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AnsweredBy, Effect } from '../../core/tools/tool.ts';
import type { ServerScope } from '../../core/tools/server-scope.ts';
import type { SystemLimits } from '../schemas/system/installation.ts';

/** `source`: the config file, the platform, or an MCP server. `by_call`: the tool decides for each call. */
export type ToolAbout = {
  name: string;
  description: string;
  effect: Effect;
  approval: Approval | 'by_call';
  source: 'own' | 'built_in' | 'mcp';
  inputSchema: JsonObject;
  answeredBy: AnsweredBy;
  /** Null: the general timeout of tools. */
  timeoutMs: number | null;
};

/**
 * `tools` is null if this process does not run the server and so does not know its tools. `scope`: who shares an instance
 * of it.
 */
export type ServerAbout = { name: string; scope: ServerScope | null; tools: readonly ToolAbout[] | null };

/** Limits of the installation; a config or a role can lower them. */
export type LimitsAbout = Static<typeof SystemLimits>;

export type About = {
  version: string;
  /** `laptop`: one process is both API and worker. */
  mode: 'laptop' | 'production';
  /** The providers that are configured for this process. */
  providers: readonly ProviderName[];
  defaultModel: string;
  prices: Prices;
  tools: readonly ToolAbout[];
  limits: LimitsAbout;
  /** The current list: MCP servers start and stop. */
  servers(): readonly ServerAbout[];
};
