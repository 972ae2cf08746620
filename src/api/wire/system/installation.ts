/** Converts the installation to its API form: data of this process, and metrics that worker processes stored. */
import type { Price } from '../../../core/money/cost.ts';
import { PROVIDERS } from '../../../core/model/model.ts';
import { formatDollars } from '../../../core/money/money.ts';
import type { ThrottleView, ProcessView } from '../../../db/read/installation/fleet-views.ts';
import type { About, ToolAbout } from '../../server/about.ts';
import { parseFigures, type Sample } from '../../../core/figures.ts';
import { toIso, toIsoOrNull } from '../../request/instant.ts';
import type { System, Throttle, WorkerProcessInfo } from '../../schemas/system/installation.ts';

/** The metrics of worker processes that the API shows. */
export const FIGURES = {
  slots: 'nightshift_slots',
  taken: 'nightshift_slots_taken',
  answered: 'nightshift_model_answered_timestamp_seconds',
  failed: 'nightshift_model_failed_timestamp_seconds',
  serverUp: 'nightshift_mcp_server_up',
  serverRestarts: 'nightshift_mcp_restarts_total',
  serverCalls: 'nightshift_mcp_calls_total',
} as const;

type SystemState = { processes: readonly ProcessView[]; throttles: readonly ThrottleView[] };

export function toSystem(about: About, { processes, throttles }: SystemState): System {
  const samples = processes.flatMap(samplesOf);
  return {
    version: about.version,
    mode: about.mode,
    default_model: about.defaultModel,
    providers: toProviders(about, processes, throttles, samples),
    prices: [...about.prices].map(toPrice).sort((a, b) => (a.model < b.model ? -1 : 1)),
    tools: toTools(about, processes),
    mcp_servers: toServers(about, processes, samples),
    limits: about.limits,
    processes: processes.map(toProcess),
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
  const servers = system.mcp_servers.map((server) => ({ ...server, restarts: null, calls: null }));
  return { ...system, providers, mcp_servers: servers, processes: null };
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

function samplesOf({ figures }: ProcessView): Sample[] {
  return parseFigures(figures).flatMap((figure) => figure.samples);
}

/** The values of the metric with this label, over all processes. */
export function valuesOf(samples: readonly Sample[], name: string, label?: [name: string, value: string]): number[] {
  return samples
    .filter((one) => one.name === name && (label === undefined || one.labels[label[0]] === label[1]))
    .map(({ value }) => value);
}

function toProviders(
  about: About,
  processes: readonly ProcessView[],
  throttles: readonly ThrottleView[],
  samples: readonly Sample[],
): System['providers'] {
  const served = processes.length > 0 ? processes.flatMap(({ models }) => models) : about.providers;
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

/** The latest of several times in seconds. Ignores impossible values. */
function latest(seconds: readonly number[]): string | null {
  const instants = seconds.filter((one) => one > 0 && one < 1e11);
  return instants.length === 0 ? null : toIso(Math.max(...instants) * 1_000);
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

function toTool({ name, source, description, effect, approval }: ToolAbout, served: boolean): System['tools'][number] {
  return { name, source, description, effect, approval, served };
}

function toServers(about: About, processes: readonly ProcessView[], samples: readonly Sample[]): System['mcp_servers'] {
  const here = new Map(about.servers().map((server) => [server.name, server]));
  const names = new Set([...here.keys(), ...processes.flatMap(({ mcpServers }) => mcpServers)]);
  return [...names].sort().map((name) => {
    const ups = valuesOf(samples, FIGURES.serverUp, ['server', name]);
    const state = ups.length === 0 ? 'unknown' : ups.some((value) => value > 0) ? 'up' : 'down';
    const tools = here.get(name)?.tools ?? null;
    return {
      name,
      state,
      tools: tools?.map((tool) => toTool(tool, state === 'up')) ?? null,
      restarts: valuesOf(samples, FIGURES.serverRestarts, ['server', name]).reduce(addCount, 0),
      calls: toCalls(samples.filter(({ name: of, labels }) => of === FIGURES.serverCalls && labels['server'] === name)),
    };
  });
}

function toProcess(process: ProcessView): WorkerProcessInfo {
  const samples = samplesOf(process);
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

export function countOf([value]: readonly number[]): number | null {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Ignores impossible values. */
function addCount(sum: number, value: number): number {
  return sum + (countOf([value]) ?? 0);
}

/** By outcome. */
function toCalls(samples: readonly Sample[]): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const { labels, value } of samples) {
    const outcome = labels['outcome'] ?? 'unknown';
    calls[outcome] = addCount(calls[outcome] ?? 0, value);
  }
  return calls;
}
