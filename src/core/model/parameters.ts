/**
 * Provider parameters that a config may set. Some parameters that providers accept would reach beyond the job: they
 * read data stored at the provider (`previous_response_id`, `conversation`, `container`, `prompt`), run tools or
 * servers that the operator did not choose (`mcp_servers`, `web_search_options`), or change the price
 * (`service_tier`). Therefore only parameters listed here for the provider's format, or allowed by the operator, are
 * sent.
 */
import type { JsonObject } from '../json.ts';
import type { ProviderName } from './model.ts';

/** Set by the platform: neither a config nor the operator may set them. */
export const RESERVED_PARAMETERS = [
  'model',
  'messages',
  'input',
  'stream',
  'tools',
  'n',
  'store',
  'background',
] as const;

const OF_OPENAI = [
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_retention',
  'safety_identifier',
  'temperature',
  'tool_choice',
  'top_logprobs',
  'top_p',
  'user',
] as const;

/** Null: any parameter, because nothing leaves the process. */
const PARAMETERS: Readonly<Record<ProviderName, readonly string[] | null>> = {
  anthropic: [
    'cache_control',
    'max_tokens',
    'metadata',
    'output_config',
    'stop_sequences',
    'temperature',
    'thinking',
    'tool_choice',
    'top_k',
    'top_p',
  ],
  openai: [...OF_OPENAI, 'include', 'max_output_tokens', 'max_tool_calls', 'reasoning', 'text', 'truncation'],
  'openai-chat': [
    ...OF_OPENAI,
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'max_completion_tokens',
    'max_tokens',
    'prediction',
    'presence_penalty',
    'reasoning_effort',
    'response_format',
    'seed',
    'stop',
    'verbosity',
    // Used by compatible servers.
    'chat_template_kwargs',
    'enable_thinking',
    'min_p',
    'reasoning',
    'repetition_penalty',
    'thinking',
    'thinking_budget',
    'top_k',
  ],
  simulated: null,
};

/** `more`: parameters that the operator allows in addition. */
export function isParameter(provider: ProviderName, name: string, more: readonly string[]): boolean {
  const known = PARAMETERS[provider];
  return known === null || known.includes(name) || more.includes(name);
}

/** The parameters that may be sent to this provider; others may be present for a model with another format. */
export function parametersFor(provider: ProviderName, parameters: JsonObject, more: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => isParameter(provider, name, more)));
}

export function isReserved(name: string): boolean {
  return RESERVED_PARAMETERS.some((reserved) => reserved === name);
}
