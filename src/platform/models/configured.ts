/** The models that an environment configures. */
import type { Config, ProviderAccess } from '../../config/config.ts';
import type { Environment } from '../../config/environment.ts';
import type { Prices } from '../../core/money/cost.ts';
import { createModels, type Models } from '../../llm/models.ts';
import { usesEnvProxy } from '../env-proxy.ts';
import { ids } from '../ids.ts';

export function modelsOf(config: Config, prices: Prices, env: Environment): Models {
  const anthropic = access(config.anthropic);
  return createModels({
    ...(anthropic.apiKey === undefined ? {} : { anthropic: { ...anthropic, apiKey: anthropic.apiKey } }),
    openai: access(config.openai),
    idleTimeoutMs: config.idleStreamMs,
    ids,
    prices,
    useEnvProxy: usesEnvProxy(env, process.execArgv),
  });
}

function access({ apiKey, baseUrl }: ProviderAccess): { apiKey?: string; baseURL?: string } {
  return { ...(apiKey === null ? {} : { apiKey }), ...(baseUrl === null ? {} : { baseURL: baseUrl }) };
}
