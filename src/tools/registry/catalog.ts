/** What this process can serve: used to resolve settings, and published to other processes. */
import type { ProviderName } from '../../core/model/model.ts';
import type { AskingLimits } from '../../core/run/policy.ts';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import type { Registry } from './registry.ts';
import type { ToolServers } from './servers.ts';

/** Defaults for what neither the worker's config nor its role sets. */
export type Defaults = WorkerConfig & Required<Pick<WorkerConfig, 'model' | 'max_steps'>>;

export type Catalog = {
  roles: ReadonlyMap<string, Role>;
  registry: Registry;
  servers: ToolServers;
  /** Providers with a configured key. */
  providers: ReadonlySet<ProviderName>;
  defaults: Defaults;
  asking: AskingLimits;
  /** Additional provider parameters that the operator allows. */
  parameters: readonly string[];
};

/** Sorted names. `models` lists providers (`anthropic`); all their models are available. */
type Published = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

export function published({ roles, registry, servers, providers }: Catalog): Published {
  return {
    tools: [...registry.names],
    roles: [...roles.keys()].sort(),
    models: [...providers].sort(),
    mcpServers: [...servers.names],
  };
}
