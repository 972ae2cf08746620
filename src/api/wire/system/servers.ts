/** Converts the MCP servers of the installation to their API form: what worker processes stored about each of them. */
import { quantilesOf, type Bucket, type Quantiles } from '../../../core/histogram.ts';
import type { Sample } from '../../../core/figures.ts';
import { FAILURE_REASONS } from '../../../core/tools/server-failure.ts';
import { toIso } from '../../request/instant.ts';
import type { McpServerFailure, McpServerInfo, System } from '../../schemas/system/installation.ts';
import type { About, ToolAbout } from '../../server/about.ts';
import { FIGURES, addCount, countOf, isInstant, valuesOf, type Stored } from './figures.ts';

export function toServers(about: About, all: readonly Stored[]): McpServerInfo[] {
  const here = new Map(about.servers().map((server) => [server.name, server]));
  const names = new Set([...here.keys(), ...all.flatMap(({ process }) => process.mcpServers)]);
  const stored = byServer(all);
  return [...names].sort().map((name) => {
    const own = stored.get(name) ?? [];
    const samples = own.flatMap((one) => one.samples);
    const ups = valuesOf(samples, FIGURES.serverUp);
    const state = ups.length === 0 ? 'unknown' : ups.some((value) => value > 0) ? 'up' : 'down';
    const { tools = null, scope = null } = here.get(name) ?? {};
    return {
      name,
      state,
      scope,
      tools: tools?.map((tool) => toTool(tool, state === 'up')) ?? null,
      last_failure: toFailure(own),
      restarts: valuesOf(samples, FIGURES.serverRestarts).reduce(addCount, 0),
      calls: toCalls(samples.filter(({ name: of }) => of === FIGURES.serverCalls)),
      latency_ms: toLatency(own),
    };
  });
}

/** What tenants may see: nothing that other tenants cause, and no hosts. */
export function serverForTenant(server: McpServerInfo): McpServerInfo {
  return { ...server, last_failure: null, restarts: null, calls: null, latency_ms: null };
}

export function toTool(tool: ToolAbout, served: boolean): System['tools'][number] {
  const { name, source, description, effect, approval } = tool;
  return { name, source, description, effect, approval, served };
}

/** What processes stored about each server. */
function byServer(all: readonly Stored[]): Map<string, Stored[]> {
  const servers = new Map<string, Stored[]>();
  for (const { process, samples: mixed } of all) {
    for (const [server, samples] of Map.groupBy(mixed, ({ labels }) => labels['server'] ?? '')) {
      const known = servers.get(server);
      if (known === undefined) servers.set(server, [{ process, samples }]);
      else known.push({ process, samples });
    }
  }
  return servers;
}

/** The latest. Ignores impossible times. */
function toFailure(own: readonly Stored[]): McpServerFailure | null {
  const found = own.flatMap(({ process, samples }) =>
    samples
      .filter(({ name, value }) => name === FIGURES.serverFailed && isInstant(value))
      .map(({ labels, value }) => ({ process, labels, value })),
  );
  const [first] = found.sort((a, b) => b.value - a.value);
  if (first === undefined) return null;
  const { process, labels, value } = first;
  return {
    at: toIso(value * 1_000),
    // A process of another release may know other reasons.
    reason: FAILURE_REASONS.find((reason) => reason === labels['reason']) ?? 'other',
    code: labels['code'] === undefined || labels['code'] === '' ? null : countOf([Number(labels['code'])]),
    process_id: process.id,
    host: process.host,
  };
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

function toLatency(own: readonly Stored[]): Quantiles | null {
  const found = quantilesOf(own.map(({ samples }) => samples.flatMap(toBucket)));
  return found === null ? null : { p50: Math.round(found.p50 * 1_000), p95: Math.round(found.p95 * 1_000) };
}

/** Ignores impossible values. */
function toBucket({ name, labels, value }: Sample): Bucket[] {
  if (name !== `${FIGURES.serverTimes}_bucket`) return [];
  const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
  const count = countOf([value]);
  return bound > 0 && count !== null ? [{ bound, count }] : [];
}
