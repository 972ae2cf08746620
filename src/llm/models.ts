/** The models that this process can call: one adapter and one SDK client per provider that has a key. */
import type { Prices } from '../core/money/cost.ts';
import type { Ids } from '../core/ids.ts';
import { PROVIDERS, type Model, type ProviderName } from '../core/model/model.ts';
import { createAnthropic, type AnthropicOptions } from './anthropic/model.ts';
import { uuids } from './ids.ts';
import { keyId } from './key-id.ts';
import { once } from '../core/once.ts';
import { createOpenAIChat } from './openai-chat/model.ts';
import { isOfficial, openaiClient, type OpenAIOptions } from './openai/client.ts';
import { createOpenAI } from './openai/model.ts';
import { priced } from './priced.ts';
import { createSimulated } from './simulated/model.ts';
import { createFetch } from './wire/http/fetch.ts';
import type { Limits } from './wire/wire.ts';

export type ModelsOptions = {
  anthropic?: AnthropicOptions;
  /** `openai` needs a key; `openai-chat` also works with only an address, for local servers. */
  openai?: OpenAIOptions;
  /** Milliseconds of silence within an answer that end a call. */
  idleTimeoutMs: number;
  /** Limit until a stream starts; default: `idleTimeoutMs`. */
  connectTimeoutMs?: number;
  /** Limit until a complete answer (`streaming: false`) starts, which is when it is finished; default: ten minutes. */
  wholeTimeoutMs?: number;
  /** Connects to providers through the proxies named in the environment. */
  useEnvProxy?: boolean;
  /** Generates the ids of tool calls. */
  ids?: Ids;
  /** Prices of models; without them no cost is recorded. */
  prices?: Prices;
};

export type Models = {
  /** Null if this process has no key for it. */
  for(provider: ProviderName): Model | null;
  configured: ProviderName[];
  /** Identifies a key; the same in every process, and without the key itself. */
  keyId(provider: ProviderName): string;
};

const WHOLE_TIMEOUT_MS = 600_000;

/** Throws if the SDK of a configured provider is not installed. */
export function createModels(options: ModelsOptions): Models {
  const { anthropic, openai, ids = uuids, prices = new Map() } = options;
  if (anthropic !== undefined) expectInstalled('@anthropic-ai/sdk');
  if (openai !== undefined) expectInstalled('openai');
  const limits: Limits = {
    idleMs: options.idleTimeoutMs,
    connectMs: options.connectTimeoutMs ?? options.idleTimeoutMs,
    wholeMs: options.wholeTimeoutMs ?? WHOLE_TIMEOUT_MS,
  };
  const fetch = createFetch(options.useEnvProxy ?? false);
  const client = openaiClient(openai ?? {}, fetch);
  const official = isOfficial(openai ?? {});
  const secret = openai?.apiKey ?? '';
  const makers: Record<ProviderName, (() => Model) | null> = {
    anthropic: anthropic === undefined ? null : once(() => createAnthropic(anthropic, fetch, limits, ids)),
    openai: secret === '' ? null : once(() => createOpenAI(client, secret, limits, ids)),
    'openai-chat':
      secret === '' && openai?.baseURL === undefined
        ? null
        : once(() => createOpenAIChat({ client, official }, secret, limits, ids)),
    simulated: once(() => createSimulated(ids)),
  };
  const access: Record<ProviderName, { apiKey?: string; baseURL?: string }> = {
    anthropic: anthropic ?? {},
    openai: openai ?? {},
    'openai-chat': openai ?? {},
    simulated: {},
  };
  return {
    for(provider) {
      const model = makers[provider]?.();
      return model === undefined ? null : priced(model, prices);
    },
    configured: PROVIDERS.filter((provider) => makers[provider] !== null),
    keyId: (provider) => keyId(provider, access[provider].baseURL ?? null, access[provider].apiKey ?? ''),
  };
}

/** Throws if the package is not installed: it is loaded only by the first call, and a process should not start without. */
function expectInstalled(name: string): void {
  import.meta.resolve(name);
}
