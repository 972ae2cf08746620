/** Builds what `GET /api/system` and `GET /api/tools` report about this installation. It contains no secrets. */
import type { About, LimitsAbout, ServerAbout, ToolAbout } from '../api/server/about.ts';
import type { Config } from '../config/config.ts';
import type { Prices } from '../core/money/cost.ts';
import { LIMITS } from '../core/limits.ts';
import { PEER_LIMITS } from '../core/workers/peer-limits.ts';
import type { ProviderName } from '../core/model/model.ts';
import type { SetLimits } from '../tools/config/limits.ts';
import type { ToolServers } from '../tools/registry/servers.ts';
import type { Tool } from '../tools/registry/tool.ts';
import { VERSION } from '../package-files.ts';

type Assembled = {
  config: Config;
  limits: SetLimits;
  prices: Prices;
  providers: readonly ProviderName[];
  builtIn: readonly Tool[];
  own: readonly Tool[];
  servers: ToolServers;
};

export function aboutOf(assembled: Assembled): Omit<About, 'mode'> {
  const { config, limits, prices, providers, builtIn, own, servers } = assembled;
  const tools = [...own.map((tool) => toAbout(tool, 'own')), ...builtIn.map((tool) => toAbout(tool, 'built_in'))];
  return {
    version: VERSION,
    providers,
    defaultModel: config.defaultModel,
    prices,
    tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)),
    limits: limitsOf(config, limits),
    servers: () => servers.names.map((name) => serverOf(servers, name)),
  };
}

function toAbout({ descriptor, approval = 'never', timeoutMs }: Tool, source: ToolAbout['source']): ToolAbout {
  const { name, description, effect, input_schema: inputSchema, answered_by: answeredBy } = descriptor;
  const shown = typeof approval === 'string' ? approval : 'by_call';
  return { name, description, effect, approval: shown, source, inputSchema, answeredBy, timeoutMs };
}

function serverOf(servers: ToolServers, name: string): ServerAbout {
  const offer = servers.offer(name, null);
  const scope = servers.scopeOf(name);
  if (offer?.kind !== 'tools') return { name, scope, tools: null };
  const tools = offer.tools.flatMap((one) => servers.get(one.name, null) ?? []);
  return { name, scope, tools: tools.map((tool) => toAbout(tool, 'mcp')) };
}

function limitsOf(config: Config, set: SetLimits): LimitsAbout {
  return {
    queued_inputs: set.queuedInputs ?? config.queueLimit,
    max_steps: set.maxSteps ?? LIMITS.maxSteps,
    tool_result: set.toolResult ?? LIMITS.toolResult,
    tool_timeout_ms: set.toolTimeoutMs ?? LIMITS.toolTimeoutMs,
    depth: set.workerDepth ?? LIMITS.workerDepth,
    children: set.workerChildren ?? LIMITS.workerChildren,
    workers: set.workersInTree ?? LIMITS.workersInTree,
    tenant_workers: set.tenantWorkers ?? null,
    hops: set.hops ?? PEER_LIMITS.hops,
    messages_per_minute: set.messagesPerMinute ?? PEER_LIMITS.messagesPerMinute,
    archived_days: set.archivedDays ?? null,
    import_bytes: config.importBytes,
    streams: config.maxStreams,
  };
}
