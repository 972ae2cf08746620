/** Assembles what this process can serve: its models, its tools, and how it resolves workers. */
import type { Logger } from 'pino';
import type { CheckInput } from '../api/server/catalog.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { NO_LIMITS } from '../core/access/quotas.ts';
import { LIMITS } from '../core/limits.ts';
import type { ProviderName } from '../core/model/model.ts';
import { ASKING_DEFAULTS } from '../core/run/policy.ts';
import type { Database } from '../db/connection/client.ts';
import type { Explain, Installation } from '../core/workers/explained.ts';
import type { Source } from '../core/workers/source.ts';
import { limitsOf, type WorkerLimits } from '../core/workers/worker-limits.ts';
import type { SetLimits } from '../tools/config/limits.ts';
import { checkOutput } from '../schema/output-schema.ts';
import type { Peers } from '../tools/built-in/peers.ts';
import { builtInTools } from '../tools/built-in/tools.ts';
import type { ConfigFile } from '../tools/config/config-file.ts';
import type { Hide } from '../tools/packages/hide.ts';
import { published, type Catalog } from '../tools/registry/catalog.ts';
import { createRegistry, withServers, type Registry } from '../tools/registry/registry.ts';
import type { ToolServers } from '../tools/registry/servers.ts';
import { explain } from '../tools/registry/explain.ts';
import { resolve } from '../tools/registry/settings.ts';
import type { Tool } from '../tools/registry/tool.ts';
import { createToolRunner } from '../tools/run/execute.ts';
import type { Abilities } from '../workers/process/ports.ts';
import { builtInParts } from './built-in-parts.ts';
import { modelsOf } from './models/configured.ts';

/** What tools of this process work with. */
type ToolParts = { database: Database; peers: Peers; servers: ToolServers; log: Logger; env: Environment };

type Served = {
  abilities: Abilities;
  checkInput: CheckInput;
  explain: Explain;
  providers: ProviderName[];
  builtIn: readonly Tool[];
};

export function abilitiesOf(config: Config, configFile: ConfigFile, parts: ToolParts): Served {
  const { servers, log, env } = parts;
  const { hide } = configFile;
  const models = modelsOf(config, configFile.prices, env);
  const limits = { ...LIMITS, asking: ASKING_DEFAULTS, ...configFile.limits };
  const builtIn = builtInTools({
    ...builtInParts(config, configFile.limits, limits.toolResult, parts),
    peers: parts.peers,
  });
  const registry = createRegistry([...builtIn, ...configFile.tools]);
  const all = withServers(registry, servers);
  const catalog: Catalog = {
    roles: configFile.roles,
    registry,
    servers,
    providers: new Set(models.configured),
    asking: limits.asking,
    parameters: configFile.limits.parameters ?? [],
    defaults: { model: config.defaultModel, max_steps: limits.maxSteps },
  };
  const abilities: Abilities = {
    model: (provider) => models.for(provider),
    keyId: (provider) => models.keyId(provider),
    tools: createToolRunner(all, { limits, log, hide }),
    checkOutput,
    resolve: ({ config: written, role, definition }, caller, allow) =>
      resolve(written, definition ?? role, catalog, { caller, role, allow }),
    published: published(catalog),
    team: {
      roles: configFile.roles,
      limits: { depth: limits.workerDepth, children: limits.workerChildren, workers: limits.workersInTree },
      tenantWorkers: configFile.limits.tenantWorkers ?? null,
      tenantLimits: configFile.limits.tenantLimits ?? NO_LIMITS,
      toolResult: limits.toolResult,
    },
  };
  const installation = installationOf(configFile.limits, abilities.team.limits, env);
  const explainer: Explain = (explained) => explain(explained, catalog, installation);
  return { abilities, providers: models.configured, checkInput: checkerOf(all, hide), explain: explainer, builtIn };
}

/** Which settings the operator has set: in the environment, or in the config file. */
function installationOf(set: SetLimits, limits: WorkerLimits, env: Environment): Installation {
  const origin = (value: number | undefined): Source => (value === undefined ? 'default' : 'config_file');
  const isModelSet = (env['NIGHTSHIFT_DEFAULT_MODEL'] ?? '').trim() !== '';
  return {
    origins: {
      model: isModelSet ? 'environment' : 'default',
      max_steps: origin(set.maxSteps),
    },
    limits: limitsOf(limits, {
      depth: origin(set.workerDepth),
      children: origin(set.workerChildren),
      workers: origin(set.workersInTree),
    }),
  };
}

/** Null: there is no such tool. */
function checkerOf(tools: Registry, hide: Hide): CheckInput {
  return async (tool, input) => {
    const checked = await tools.get(tool, null)?.validate(structuredClone(input));
    if (checked === undefined) return null;
    return checked.ok ? [] : checked.problems.map(hide);
  };
}
