/** What a model is told beside the conversation and the tools, as a config says it together with its role. */
import type { JsonObject } from './json.ts';
import type { ProviderName } from './model.ts';
import { parametersFor } from './parameters.ts';
import type { Role, Settings, WorkerConfig } from './settings.ts';

export type CallSettings = Pick<
  Settings,
  'streaming' | 'systemPrompt' | 'mode' | 'maxTokens' | 'pinned' | 'parameters'
>;

/** `isOfFile`: the role is the operator's own. `allowed`: parameters that the operator allows besides the usual ones. */
export function callSettings(
  config: WorkerConfig,
  role: Role,
  isOfFile: boolean,
  provider: ProviderName,
  allowed: readonly string[],
): CallSettings {
  const whole = { ...role, ...config };
  const parameters: JsonObject = whole.parameters ?? {};
  return {
    streaming: whole.streaming ?? true,
    systemPrompt: whole.system_prompt ?? '',
    mode: whole.mode ?? 'act',
    maxTokens: whole.max_tokens ?? null,
    pinned: whole.pinned ?? [],
    parameters:
      // The operator's own role says what the operator wants.
      config.parameters === undefined && isOfFile ? parameters : parametersFor(provider, parameters, allowed),
  };
}
