/** The settings of a model call apart from conversation and tools: a worker's config merged over its role. */
import type { JsonObject } from '../json.ts';
import type { ProviderName } from './model.ts';
import type { Pinned } from '../conversation/pinned.ts';
import { outputSettings, type OutputSettings } from '../run/output.ts';
import { parametersFor } from './parameters.ts';
import type { Mode, Role, Settings, WorkerConfig } from '../workers/settings.ts';
import { mergedConfig, sourceOf, type Layers } from '../workers/layers.ts';
import type { Sourced } from '../workers/source.ts';

export type CallSettings = Pick<
  Settings,
  'streaming' | 'systemPrompt' | 'mode' | 'maxTokens' | 'pinned' | 'parameters' | keyof OutputSettings
>;

/** The same, with where each comes from. Null: no limit, or any text. */
export type EffectiveCall = {
  streaming: Sourced<boolean>;
  system_prompt: Sourced<string>;
  mode: Sourced<Mode>;
  max_tokens: Sourced<number | null>;
  pinned: Sourced<Pinned[]>;
  output_schema: Sourced<JsonObject | null>;
  output_retries: Sourced<number>;
  /** Those that are sent. */
  parameters: Sourced<JsonObject>;
};

/**
 * Decides which parameters are sent. `allowed`: parameters that the operator allows besides the standard ones.
 * `isOfFile`: the role is from the config file.
 */
export type ParameterRules = { provider: ProviderName; allowed: readonly string[]; isOfFile: boolean };

export function callSettings(config: WorkerConfig, role: Role, rules: ParameterRules): CallSettings {
  return callValues(effectiveCall({ worker: config, role, defaults: {} }, rules));
}

export function effectiveCall(layers: Layers, { provider, allowed, isOfFile }: ParameterRules): EffectiveCall {
  const whole = mergedConfig(layers);
  const parameters: JsonObject = whole.parameters ?? {};
  const output = outputSettings(whole);
  // Parameters of a role from the config file are trusted and not filtered.
  const isTrusted = layers.worker.parameters === undefined && isOfFile;
  const sourced = <Value>(member: keyof WorkerConfig, value: Value) => ({ value, source: sourceOf(layers, member) });
  return {
    streaming: sourced('streaming', whole.streaming ?? true),
    system_prompt: sourced('system_prompt', whole.system_prompt ?? ''),
    mode: sourced('mode', whole.mode ?? 'act'),
    max_tokens: sourced('max_tokens', whole.max_tokens ?? null),
    pinned: sourced('pinned', whole.pinned ?? []),
    output_schema: sourced('output_schema', output.outputSchema),
    output_retries: sourced('output_retries', output.outputRetries),
    parameters: sourced('parameters', isTrusted ? parameters : parametersFor(provider, parameters, allowed)),
  };
}

/** What a call is made with. */
export function callValues(effective: EffectiveCall): CallSettings {
  return {
    streaming: effective.streaming.value,
    systemPrompt: effective.system_prompt.value,
    mode: effective.mode.value,
    maxTokens: effective.max_tokens.value,
    pinned: effective.pinned.value,
    outputSchema: effective.output_schema.value,
    outputRetries: effective.output_retries.value,
    parameters: effective.parameters.value,
  };
}
