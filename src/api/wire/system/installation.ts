/** Converts the installation to its API form: data of this process, and metrics that worker processes stored. */
import type { Price } from '../../../core/money/cost.ts';
import { PROVIDERS } from '../../../core/model/model.ts';
import { formatDollars } from '../../../core/money/money.ts';
import type { ThrottleView, ProcessView } from '../../../db/read/installation/fleet-views.ts';
import type { About } from '../../server/about.ts';
import { toIso, toIsoOrNull } from '../../request/instant.ts';
import type { System, Throttle, WorkerProcessInfo } from '../../schemas/system/installation.ts';
import { FIGURES, countOf, latest, parseStored, valuesOf, type Stored } from './figures.ts';
import { serverForTenant, toServers, toTool } from './servers.ts';

type SystemState = { processes: readonly ProcessView[]; throttles: readonly ThrottleView[] };

export function toSystem(about: About, { processes, throttles }: SystemState): System {
  const stored = processes.map(parseStored);
  return {
    version: about.version,
    mode: about.mode,
    default_model: about.defaultModel,
    providers: toProviders(about, stored, throttles),
    prices: [...about.prices].map(toPrice).sort((a, b) => (a.model < b.model ? -1 : 1)),
    tools: toTools(about, processes),
    mcp_servers: toServers(about, stored),
    limits: about.limits,
    processes: stored.map(toProcess),
  };
}

/** The part that tenants may see: nothing that other tenants cause, and no hosts. */
export function withoutInstallation(system: System): System {
  const providers = system.providers.map(({ name, configured }) => ({
    name,
    configured,
    answered_at: null,
    failed_at: null,
    throttled_until: null,
    throttle_reason: null,
    throttles: null,
  }));
  return { ...system, providers, mcp_servers: system.mcp_servers.map(serverForTenant), processes: null };
}

/** A price in trillionths of a dollar per token is the same number in millionths per million tokens. */
function toPrice([model, price]: [string, Price]): System['prices'][number] {
  return {
    model,
    input: formatDollars(price.input * 1_000),
    output: formatDollars(price.output * 1_000),
    cache_read: formatDollars(price.cacheRead * 1_000),
    cache_write: formatDollars(price.cacheWrite * 1_000),
  };
}

function toProviders(about: About, stored: readonly Stored[], throttles: readonly ThrottleView[]): System['providers'] {
  const served = stored.length > 0 ? stored.flatMap(({ process }) => process.models) : about.providers;
  // Those of MCP servers may be many.
  const samples = stored.flatMap((one) => one.samples.filter(({ labels }) => labels['provider'] !== undefined));
  return PROVIDERS.map((name) => {
    const own = throttles.filter(({ provider }) => provider === name);
    const longest = own[0] ?? null;
    return {
      name,
      configured: served.includes(name),
      answered_at: latest(valuesOf(samples, FIGURES.answered, ['provider', name])),
      failed_at: latest(valuesOf(samples, FIGURES.failed, ['provider', name])),
      throttled_until: toIsoOrNull(longest?.until ?? null),
      throttle_reason: longest?.reason ?? null,
      throttles: own.map(toThrottle),
    };
  });
}

function toThrottle({ id, model, reason, since, until, tenants }: ThrottleView): Throttle {
  return { id, model, reason, since: toIso(since), until: toIso(until), tenants };
}

function toTools(about: About, processes: readonly ProcessView[]): System['tools'] {
  const served = new Set(processes.flatMap(({ tools }) => tools));
  const known = new Set(about.tools.map(({ name }) => name));
  const elsewhere = [...served].filter((name) => !known.has(name));
  return [
    ...about.tools.map((tool) => toTool(tool, served.has(tool.name))),
    ...elsewhere.map((name) => ({
      name,
      source: 'elsewhere' as const,
      description: null,
      effect: null,
      approval: null,
      served: true,
    })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toProcess({ process, samples }: Stored): WorkerProcessInfo {
  return {
    id: process.id,
    host: process.host,
    pid: process.pid,
    version: process.version,
    started_at: toIso(process.startedAt),
    heartbeat_at: toIso(process.heartbeatAt),
    concurrency: countOf(valuesOf(samples, FIGURES.slots)),
    running: countOf(valuesOf(samples, FIGURES.taken)),
    providers: process.models,
    mcp_servers: process.mcpServers,
  };
}
