/**
 * Explains what a worker runs with, for people: the settings that apply, where each comes from and what would apply without
 * it, and the tools with what decides about the approval of their calls. From the same functions as `resolve`. Pure.
 */
import { decideApproval, ruleFor, type Approval } from '../../core/run/policy.ts';
import type { AnsweredBy, Effect, ToolDescriptor } from '../../core/tools/tool.ts';
import { isAllowed, usableConfig } from '../../core/workers/allowed-names.ts';
import { effectiveSettings, type EffectiveRule, type EffectiveSettings } from '../../core/workers/effective.ts';
import { describeClientTool, offeredTools } from '../../core/workers/offered-tools.ts';
import type {
  Effective,
  EffectiveTool,
  Explained,
  ExplainedSettings,
  Installation,
} from '../../core/workers/explained.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { mergedConfig, sourceOf, type Layers } from '../../core/workers/layers.ts';
import { effectiveLimits } from '../../core/workers/worker-limits.ts';
import type { Allow } from '../../core/access/tenant.ts';
import type { Catalog } from './catalog.ts';
import { distinct, findServed, findTools, notAllowedMessage } from './settings.ts';

/** Null: this process does not know the role, or the provider of the model. */
export function explain(
  { config, role: name, from, own, allow }: Explained,
  catalog: Catalog,
  { origins, limits }: Installation,
): Effective | null {
  const role = typeof from === 'string' ? catalog.roles.get(from) : (from ?? {});
  if (role === undefined) return null;
  const layers: Layers = { worker: config, role, defaults: catalog.defaults, origins };
  const rules = { allow, allowed: catalog.parameters, isOfFile: typeof from === 'string' };
  const settings = effectiveSettings(layers, rules);
  if (settings === null) return null;
  const without = (member: keyof WorkerConfig): EffectiveSettings | null =>
    layers[own][member] === undefined
      ? null
      : effectiveSettings({ ...layers, [own]: withoutMember(layers[own], member) }, rules);
  return {
    settings: withInherited(settings, without),
    approval: settings.approval,
    limits: effectiveLimits(limits, role.limits ?? {}, config.limits ?? {}),
    tools: toolsOf(layers, settings, { catalog, allow }),
    unknownServers: settings.mcp_servers.value.filter((name) => catalog.servers.offer(name, null)?.kind !== 'tools'),
    notAllowed: notAllowedMessage(allow, name, usableConfig(allow, mergedConfig(layers))),
  };
}

/** `without`: what applies without the own value of a member; null: it has none. */
function withInherited(
  settings: EffectiveSettings,
  without: (member: keyof WorkerConfig) => EffectiveSettings | null,
): ExplainedSettings {
  const of = <Member extends keyof ExplainedSettings>(member: Member) => ({
    ...settings[member],
    inherited: without(member)?.[member] ?? null,
  });
  return {
    model: of('model'),
    streaming: of('streaming'),
    system_prompt: of('system_prompt'),
    mode: of('mode'),
    tools: of('tools'),
    client_tools: of('client_tools'),
    mcp_servers: of('mcp_servers'),
    max_tokens: of('max_tokens'),
    context_limit: of('context_limit'),
    compaction: of('compaction'),
    pinned: of('pinned'),
    max_steps: of('max_steps'),
    output_schema: of('output_schema'),
    output_retries: of('output_retries'),
    parameters: of('parameters'),
    idle_timeout_s: of('idle_timeout_s'),
  };
}

function withoutMember(config: WorkerConfig, member: keyof WorkerConfig): WorkerConfig {
  return Object.fromEntries(Object.entries(config).filter(([name]) => name !== member));
}

type Tools = { catalog: Catalog; allow: Allow };

/** Sorted by name, each once. First those that the run has, as it finds them; then what the config names besides. */
function toolsOf(layers: Layers, settings: EffectiveSettings, { catalog, allow }: Tools): EffectiveTool[] {
  const { tools: named = [] } = mergedConfig(layers);
  const served = findServed(settings.mcp_servers.value, catalog.servers, null).found;
  const usable = served.filter(({ name }) => isAllowed(allow, 'tools', name));
  const ours = distinct([...findTools(settings.tools.value, catalog, null).found, ...usable]);
  const clients = settings.client_tools.value.map(describeClientTool);
  const offered = offeredTools(ours, settings.client_tools.value, settings.mode.value);
  const listed = (
    { name, effect, answered_by }: Pick<ToolDescriptor, 'name' | 'answered_by'> & { effect: Effect | null },
    field: EffectiveTool['field'],
    state: EffectiveTool['state'],
  ): EffectiveTool => ({
    name,
    field,
    source: sourceOf(layers, field),
    state,
    effect,
    ...approvalOf(name, answered_by, settings.approval, catalog),
  });
  const stateOf = ({ name }: ToolDescriptor) =>
    offered.some((tool) => tool.name === name) ? ('offered' as const) : ('plan_mode' as const);
  const fieldOf = ({ name }: ToolDescriptor) => (named.includes(name) ? ('tools' as const) : ('mcp_servers' as const));
  const all = [
    ...ours.map((tool) => listed(tool, fieldOf(tool), stateOf(tool))),
    ...clients.map((tool) => listed(tool, 'client_tools', stateOf(tool))),
    ...served.filter((tool) => !usable.includes(tool)).map((tool) => listed(tool, fieldOf(tool), 'not_allowed')),
    ...named.map((name) => {
      const effect = catalog.registry.get(name, null)?.descriptor.effect ?? null;
      const state = isAllowed(allow, 'tools', name) ? 'unknown' : 'not_allowed';
      return listed({ name, effect, answered_by: 'tool' }, 'tools', state);
    }),
  ];
  const first = new Map(all.toReversed().map((tool) => [tool.name, tool]));
  return [...first.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** As the run decides (`tools/run/judge.ts`), for a call of unknown arguments. */
function approvalOf(
  name: string,
  answeredBy: AnsweredBy,
  rules: readonly EffectiveRule[],
  { registry, servers }: Catalog,
): Pick<EffectiveTool, 'approval' | 'rule'> {
  const rule = ruleFor(rules, name);
  const ruled: Approval | null = rule?.decision ?? null;
  const tool = answeredBy === 'tool' ? (registry.get(name, null) ?? servers.get(name, null)) : undefined;
  const own = tool?.approval ?? 'never';
  if (typeof own !== 'string' && ruled !== 'deny')
    return { approval: 'by_call', rule: ruled === 'always' ? rule : null };
  const approval = typeof own === 'string' ? decideApproval(ruled, own) : 'deny';
  return { approval, rule: approval === ruled ? rule : null };
}
