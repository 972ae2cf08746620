/**
 * Resolves what a worker runs with: the settings that apply to it (`core/workers/effective.ts`), and the tools of this
 * process. Pure.
 */
import { callValues } from '../../core/model/call-settings.ts';
import type { CompactionSettings } from '../../core/compaction/settings.ts';
import { parseModelName, type ModelName } from '../../core/model/model.ts';
import { outputSettings } from '../../core/run/output.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { ALL_ALLOWED, isAllowed, notAllowed, usableConfig } from '../../core/workers/allowed-names.ts';
import { effectiveSettings, type EffectiveCompaction } from '../../core/workers/effective.ts';
import { offeredTools } from '../../core/workers/offered-tools.ts';
import type { Role, Serving, WorkerConfig } from '../../core/workers/settings.ts';
import { mergedConfig } from '../../core/workers/layers.ts';
import type { ToolCaller, ToolDescriptor } from '../../core/tools/tool.ts';
import type { Catalog } from './catalog.ts';
import { serverOf } from '../../core/tools/mcp-tool-name.ts';
import type { ToolServers } from './servers.ts';

/**
 * For whom a worker is resolved. `caller`: whose servers are meant; their tools stay constant within its job; null: of no
 * context in particular. `role`: the name of its role; null: it has none. `allow`: what its tenant may use.
 */
export type ResolvedFor = { caller: ToolCaller | null; role: string | null; allow: Allow };

const FOR_ALL: ResolvedFor = { caller: null, role: null, allow: ALL_ALLOWED };

/**
 * `from`: the name of a role in the config file, or the definition of a role of the API. `missing` lists all that this
 * process lacks: `role coder`, `provider anthropic`, `tool read_file`, `mcp server files` (also while it is starting).
 * Tools and servers that the tenant may not use count as not named. With a role or a model that it may not use, the worker
 * is not allowed to run.
 */
export function resolve(
  config: WorkerConfig,
  from: string | Role | null,
  catalog: Catalog,
  { caller, role: roleName, allow }: ResolvedFor = FOR_ALL,
): Serving {
  const role = typeof from === 'string' ? catalog.roles.get(from) : (from ?? {});
  // If the role is unknown, only the needs of the worker's own config are known.
  const layers = { worker: config, role: role ?? {}, defaults: role === undefined ? {} : catalog.defaults };
  const knownConfig = usableConfig(allow, mergedConfig(layers));
  const message = notAllowedMessage(allow, typeof from === 'string' ? from : roleName, knownConfig);
  if (message !== null) return { kind: 'not_allowed', message, output: outputSettings(knownConfig) };
  const model = knownConfig.model === undefined ? null : parseModelName(knownConfig.model);
  const lacking = [
    ...(role === undefined && typeof from === 'string' ? [`role ${from}`] : []),
    ...missingProvider(knownConfig.model, model, catalog),
    ...missingSummariser(knownConfig, catalog),
  ];
  // Servers of the caller are started only for a job that can be served otherwise.
  const servers = serversOf(knownConfig);
  if (lacking.length === 0 && caller !== null && caller.jobId !== null) catalog.servers.use(servers, caller);
  const tools = findTools(knownConfig.tools ?? [], catalog, caller);
  const served = findServed(knownConfig.mcp_servers ?? [], catalog.servers, caller);
  const found = [...tools.found, ...served.found.filter(({ name }) => isAllowed(allow, 'tools', name))];
  const missing = [...lacking, ...tools.missing, ...served.missing];
  const rules = { allow, allowed: catalog.parameters, isOfFile: typeof from === 'string' };
  const effective = role === undefined ? null : effectiveSettings(layers, rules);
  if (effective === null || model === null || missing.length > 0) return { kind: 'unsupported', missing };
  return {
    kind: 'served',
    settings: {
      ...callValues(effective),
      model,
      tools: offeredTools(distinct(found), effective.client_tools.value, effective.mode.value),
      contextLimit: effective.context_limit.value,
      compaction: compactionOf(effective.compaction.value),
      maxSteps: effective.max_steps.value,
      asking: { ...catalog.asking, rules: effective.approval.map(({ tool, decision }) => ({ tool, decision })) },
    },
  };
}

/** `role`: its name. Null: the tenant may use the role and the models. */
export function notAllowedMessage(
  allow: Allow,
  role: string | null,
  { model, compaction }: WorkerConfig,
): string | null {
  if (role !== null && !isAllowed(allow, 'roles', role)) return notAllowed(allow, 'roles', [role]);
  const models = [model, compaction?.model].filter((name) => name !== undefined);
  const not = models.filter((name) => !isAllowed(allow, 'models', name));
  return not.length === 0 ? null : notAllowed(allow, 'models', not);
}

function missingProvider(name: string | undefined, model: ModelName | null, { providers }: Catalog): string[] {
  if (name === undefined) return [];
  if (model === null) return [`model ${name}`];
  return providers.has(model.provider) ? [] : [`provider ${model.provider}`];
}

/** Omits a provider that `missingProvider` already reports. */
function missingSummariser({ model, compaction = {} }: WorkerConfig, catalog: Catalog): string[] {
  if (compaction.type !== 'llm' || compaction.model === undefined) return [];
  const missing = missingProvider(compaction.model, parseModelName(compaction.model), catalog);
  const reported = model === undefined ? [] : missingProvider(model, parseModelName(model), catalog);
  return missing.filter((name) => !reported.includes(name));
}

function compactionOf({ type, threshold, keep_turns, model }: EffectiveCompaction): CompactionSettings {
  return { type, threshold, keepTurns: keep_turns, model: model === null ? null : parseModelName(model) };
}

/** The servers that the config needs. */
function serversOf({ tools = [], mcp_servers: named = [] }: WorkerConfig): string[] {
  return [...new Set([...named, ...tools.flatMap((tool) => serverOf(tool) ?? [])])];
}

export type Found = { found: ToolDescriptor[]; missing: string[] };

/** Each tool once. Tools of a server may also be named individually; one that the server no longer has is skipped. */
export function findTools(
  names: readonly string[],
  { registry, servers }: Pick<Catalog, 'registry' | 'servers'>,
  caller: ToolCaller | null,
): Found {
  const found: ToolDescriptor[] = [];
  const missing: string[] = [];
  for (const name of [...new Set(names)].sort()) {
    const server = serverOf(name);
    const offer = server === null ? null : servers.offer(server, caller);
    const tool = registry.get(name, caller)?.descriptor;
    if (tool !== undefined) found.push(tool);
    else if (offer?.kind === 'tools') found.push(...offer.tools.filter((one) => one.name === name));
    else missing.push(offer?.kind === 'starting' ? `mcp server ${server}` : `tool ${name}`);
  }
  return { found, missing };
}

export function distinct(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}

/** The tools of the named servers. */
export function findServed(names: readonly string[], servers: ToolServers, caller: ToolCaller | null): Found {
  const found: ToolDescriptor[] = [];
  const missing: string[] = [];
  for (const name of [...new Set(names)].sort()) {
    const offer = servers.offer(name, caller);
    if (offer?.kind === 'tools') found.push(...offer.tools);
    else missing.push(`mcp server ${name}`);
  }
  return { found, missing };
}
