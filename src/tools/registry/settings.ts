/** Resolves the settings of a worker from its config, its role and the defaults, in this order. Pure. */
import { callSettings } from '../../core/model/call-settings.ts';
import {
  COMPACTION_DEFAULTS,
  CONTEXT_LIMITS,
  type CompactionConfig,
  type CompactionSettings,
} from '../../core/compaction/settings.ts';
import { parseModelName, type ModelName } from '../../core/model/model.ts';
import { outputSettings } from '../../core/run/output.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { ALL_ALLOWED, allowedOf, isAllowed, notAllowed } from '../../core/workers/allowed-names.ts';
import type { ClientTool, Mode, Role, Serving, WorkerConfig } from '../../core/workers/settings.ts';
import type { ToolCaller, ToolDescriptor } from '../../core/tools/tool.ts';
import type { Catalog, Defaults } from './catalog.ts';
import { serverOf } from '../../core/tools/mcp-tool-name.ts';
import type { ToolServers } from './servers.ts';

/**
 * For whom a worker is resolved. `caller`: whose servers are meant; their tools stay constant within its job; null: of no
 * context in particular. `role`: the name of its role; null: it has none. `allow`: what its tenant may use.
 */
type ResolvedFor = { caller: ToolCaller | null; role: string | null; allow: Allow };

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
  // Field by field: `parameters`, `tools`, `compaction` and `pinned` are replaced as a whole.
  const whole: Defaults | null = role === undefined ? null : { ...catalog.defaults, ...role, ...config };
  const knownConfig: WorkerConfig = usable(whole ?? config, allow);
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
  if (whole === null || model === null || missing.length > 0) return { kind: 'unsupported', missing };
  const callValues = callSettings(
    config,
    { ...catalog.defaults, ...role },
    { provider: model.provider, allowed: catalog.parameters, isOfFile: typeof from === 'string' },
  );
  return {
    kind: 'served',
    settings: {
      ...callValues,
      model,
      tools: offered(distinct(found), whole.client_tools ?? [], callValues.mode),
      contextLimit: whole.context_limit ?? CONTEXT_LIMITS[model.provider],
      compaction: compactionOf(knownConfig.compaction ?? {}),
      maxSteps: whole.max_steps,
      // Rules of a role are appended to those of the config.
      asking: { ...catalog.asking, rules: [...(config.approval ?? []), ...(role?.approval ?? [])] },
    },
  };
}

/**
 * The config without the tools, the servers and the unused model for summaries that the tenant may not use. A compaction
 * that a client requests then uses the worker's own model.
 */
function usable(config: WorkerConfig, allow: Allow): WorkerConfig {
  const { tools, mcp_servers, compaction } = config;
  const { model, ...withoutModel } = compaction ?? {};
  const isDropped = model !== undefined && compaction?.type !== 'llm' && !isAllowed(allow, 'models', model);
  return {
    ...config,
    ...(tools !== undefined && { tools: allowedOf(allow, 'tools', tools) }),
    ...(mcp_servers !== undefined && { mcp_servers: allowedOf(allow, 'mcp_servers', mcp_servers) }),
    ...(isDropped && { compaction: withoutModel }),
  };
}

/** Null: the tenant may use the role and the models. */
function notAllowedMessage(allow: Allow, role: string | null, { model, compaction }: WorkerConfig): string | null {
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

function compactionOf({ type, threshold, keep_turns, model }: CompactionConfig): CompactionSettings {
  return {
    type: type ?? COMPACTION_DEFAULTS.type,
    threshold: threshold ?? COMPACTION_DEFAULTS.threshold,
    keepTurns: keep_turns ?? COMPACTION_DEFAULTS.keepTurns,
    model: model === undefined ? null : parseModelName(model),
  };
}

/**
 * Sorted by name. A platform tool replaces a client tool of the same name. In plan mode only tools without effect are
 * offered.
 */
function offered(ours: readonly ToolDescriptor[], theirs: readonly ClientTool[], mode: Mode): ToolDescriptor[] {
  const others = theirs.filter(({ name }) => !ours.some((tool) => tool.name === name));
  return [...ours, ...others.map(describeClientTool)]
    .filter(({ effect }) => mode === 'act' || effect === 'none')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The effect is `once`, because it is unknown whether a client tool can run again safely. */
function describeClientTool(tool: ClientTool): ToolDescriptor {
  return { ...tool, effect: 'once', on_unknown: 'tell', answered_by: 'client' };
}

/** The servers that the config needs. */
function serversOf({ tools = [], mcp_servers: named = [] }: WorkerConfig): string[] {
  return [...new Set([...named, ...tools.flatMap((tool) => serverOf(tool) ?? [])])];
}

type Found = { found: ToolDescriptor[]; missing: string[] };

/** Each tool once. Tools of a server may also be named individually; one that the server no longer has is skipped. */
function findTools(
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

function distinct(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}

/** The tools of the named servers. */
function findServed(names: readonly string[], servers: ToolServers, caller: ToolCaller | null): Found {
  const found: ToolDescriptor[] = [];
  const missing: string[] = [];
  for (const name of [...new Set(names)].sort()) {
    const offer = servers.offer(name, caller);
    if (offer?.kind === 'tools') found.push(...offer.tools);
    else missing.push(`mcp server ${name}`);
  }
  return { found, missing };
}
