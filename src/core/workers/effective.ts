/**
 * The settings that apply to a worker, each with where its value comes from. A run takes its settings from here, so that
 * what a client is shown is what is used. Pure.
 */
import type { Allow } from '../access/tenant.ts';
import { COMPACTION_DEFAULTS, CONTEXT_LIMITS } from '../compaction/settings.ts';
import type { CompactionType } from '../compaction/type.ts';
import { LIMITS } from '../limits.ts';
import { effectiveCall, type EffectiveCall, type ParameterRules } from '../model/call-settings.ts';
import { parseModelName, type ModelName } from '../model/model.ts';
import type { ApprovalRule } from '../run/policy.ts';
import { usableConfig } from './allowed-names.ts';
import type { ClientTool, WorkerConfig } from './settings.ts';
import { mergedConfig, sourceOf, type Layers } from './layers.ts';
import type { Source, Sourced } from './source.ts';

/** `model` null: the worker's own summarises. */
export type EffectiveCompaction = { type: CompactionType; threshold: number; keep_turns: number; model: string | null };

export type EffectiveRule = ApprovalRule & { source: Source };

/** `tools` and `mcp_servers`: those that the tenant may use. Null: no limit. */
export type EffectiveSettings = EffectiveCall & {
  model: Sourced<string>;
  tools: Sourced<string[]>;
  client_tools: Sourced<ClientTool[]>;
  mcp_servers: Sourced<string[]>;
  context_limit: Sourced<number>;
  compaction: Sourced<EffectiveCompaction>;
  max_steps: Sourced<number>;
  idle_timeout_s: Sourced<number | null>;
  /** In the order in which they are tried: rules of the role follow those of the worker. */
  approval: EffectiveRule[];
};

/** `allow`: what the tenant may use. */
export type EffectiveRules = Omit<ParameterRules, 'provider'> & { allow: Allow };

/** Null: the model has no known provider, or there is none. */
export function effectiveSettings(layers: Layers, rules: EffectiveRules): EffectiveSettings | null {
  const whole = usableConfig(rules.allow, mergedConfig(layers));
  const model = whole.model === undefined ? null : parseModelName(whole.model);
  if (model === null || whole.model === undefined) return null;
  const sourced = <Value>(member: keyof WorkerConfig, value: Value) => ({ value, source: sourceOf(layers, member) });
  return {
    ...effectiveCall(layers, { ...rules, provider: model.provider }),
    model: sourced('model', whole.model),
    tools: sourced('tools', whole.tools ?? []),
    client_tools: sourced('client_tools', whole.client_tools ?? []),
    mcp_servers: sourced('mcp_servers', whole.mcp_servers ?? []),
    context_limit: contextLimit(whole, model, sourceOf(layers, 'context_limit')),
    compaction: sourced('compaction', compactionOf(whole)),
    max_steps: sourced('max_steps', whole.max_steps ?? LIMITS.maxSteps),
    idle_timeout_s: sourced('idle_timeout_s', whole.idle_timeout_s ?? null),
    approval: approvalRules(layers),
  };
}

/** Rules of a role are appended to those of the config. */
export function approvalRules({ worker, role }: Pick<Layers, 'worker' | 'role'>): EffectiveRule[] {
  const of = ({ approval = [] }: WorkerConfig, source: Source) => approval.map((rule) => ({ ...rule, source }));
  return [...of(worker, 'worker'), ...of(role, 'role')];
}

function contextLimit({ context_limit: own }: WorkerConfig, { provider }: ModelName, source: Source): Sourced<number> {
  return own === undefined ? { value: CONTEXT_LIMITS[provider], source: 'provider' } : { value: own, source };
}

function compactionOf({ compaction = {} }: WorkerConfig): EffectiveCompaction {
  return {
    type: compaction.type ?? COMPACTION_DEFAULTS.type,
    threshold: compaction.threshold ?? COMPACTION_DEFAULTS.threshold,
    keep_turns: compaction.keep_turns ?? COMPACTION_DEFAULTS.keepTurns,
    model: compaction.model ?? null,
  };
}
