/** What this process can serve: what it resolves settings by, and what of it is published for others to see. */
import type { ProviderName } from '../core/model.ts';
import type { AskingLimits } from '../core/policy.ts';
import type { Role, WorkerConfig } from '../core/settings.ts';
import type { Registry } from './registry.ts';
import type { ToolServers } from './servers.ts';

/** What holds where neither a worker's config nor its role says anything. */
export type Defaults = WorkerConfig & Required<Pick<WorkerConfig, 'model' | 'max_steps'>>;

export type Catalog = {
  roles: ReadonlyMap<string, Role>;
  registry: Registry;
  servers: ToolServers;
  /** Those that can be called from here: their keys are known. */
  providers: ReadonlySet<ProviderName>;
  defaults: Defaults;
  asking: AskingLimits;
  /** Those of providers that the operator allows besides the usual ones. */
  parameters: readonly string[];
};

/** Sorted names. `models` are providers (`anthropic`): any model of theirs can be asked for. */
export type Published = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

export function published({ roles, registry, servers, providers }: Catalog): Published {
  return {
    tools: [...registry.names],
    roles: [...roles.keys()].sort(),
    models: [...providers].sort(),
    mcpServers: [...servers.names],
  };
}
