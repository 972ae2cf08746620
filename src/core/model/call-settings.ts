/** The model call settings apart from conversation and tools: a worker's config merged over its role. */
import type { JsonObject } from '../json.ts';
import type { ProviderName } from './model.ts';
import { outputSettings, type OutputSettings } from '../run/output.ts';
import { parametersFor } from './parameters.ts';
import type { Role, Settings, WorkerConfig } from '../workers/settings.ts';

export type CallSettings = Pick<
  Settings,
  'streaming' | 'systemPrompt' | 'mode' | 'maxTokens' | 'pinned' | 'parameters' | keyof OutputSettings
>;

/**
 * Decides which parameters are sent. `allowed`: parameters that the operator allows besides the standard ones.
 * `isOfFile`: the role is from the config file.
 */
type ParameterRules = { provider: ProviderName; allowed: readonly string[]; isOfFile: boolean };

export function callSettings(
  config: WorkerConfig,
  role: Role,
  { provider, allowed, isOfFile }: ParameterRules,
): CallSettings {
  const whole = { ...role, ...config };
  const parameters: JsonObject = whole.parameters ?? {};
  return {
    streaming: whole.streaming ?? true,
    systemPrompt: whole.system_prompt ?? '',
    mode: whole.mode ?? 'act',
    maxTokens: whole.max_tokens ?? null,
    pinned: whole.pinned ?? [],
    ...outputSettings(whole),
    parameters:
      // Parameters of a role from the config file are trusted and not filtered.
      config.parameters === undefined && isOfFile ? parameters : parametersFor(provider, parameters, allowed),
  };
}
