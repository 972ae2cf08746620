/** The models that this process can call: one adapter and one SDK client for each provider it has keys for. */
import type { Prices } from '../core/cost.ts';
import type { Ids } from '../core/ids.ts';
import { PROVIDERS } from '../core/model.ts';
import type { Model, ProviderName } from '../core/model.ts';
import { createAnthropic } from './anthropic/model.ts';
import type { AnthropicOptions } from './anthropic/model.ts';
import { uuids } from './ids.ts';
import { keyId } from './key-id.ts';
import { createOpenAIChat } from './openai-chat/model.ts';
import { createClient } from './openai/client.ts';
import type { OpenAIOptions } from './openai/client.ts';
import { createOpenAI } from './openai/model.ts';
import { priced } from './priced.ts';
import { createSimulated } from './simulated/model.ts';
import { createFetch } from './wire/fetch.ts';
import type { Limits } from './wire/wire.ts';

export type ModelsOptions = {
  anthropic?: AnthropicOptions;
  /** `openai` needs a key; `openai-chat` is also there with an address alone, for local servers. */
  openai?: OpenAIOptions;
  /** Milliseconds of silence that end a call, within an answer. */
  idleTimeoutMs: number;
  /** Until a stream begins; as `idleTimeoutMs` where it is left out. */
  connectTimeoutMs?: number;
  /** Until a whole answer (`streaming: false`) begins, which is when it is finished; ten minutes where it is left out. */
  wholeTimeoutMs?: number;
  /** Providers are reached by way of the proxies that the environment names. */
  useEnvProxy?: boolean;
  /** Makes the ids of tool calls. */
  ids?: Ids;
  /** What answers cost; without it nobody knows. */
  prices?: Prices;
};

export type Models = {
  /** Null where this process has no key for it. */
  for(provider: ProviderName): Model | null;
  configured: ProviderName[];
  /** Tells keys apart, in every process alike, and holds none. */
  keyId(provider: ProviderName): string;
};

const WHOLE_TIMEOUT_MS = 600_000;

export function createModels(options: ModelsOptions): Models {
  const { anthropic, openai, ids = uuids, prices = new Map() } = options;
  const limits: Limits = {
    idleMs: options.idleTimeoutMs,
    connectMs: options.connectTimeoutMs ?? options.idleTimeoutMs,
    wholeMs: options.wholeTimeoutMs ?? WHOLE_TIMEOUT_MS,
  };
  const fetch = createFetch(options.useEnvProxy ?? false);
  const openaiClient = once(() => createClient(openai ?? {}, fetch));
  const secret = openai?.apiKey ?? '';
  const makers: Record<ProviderName, (() => Model) | null> = {
    anthropic: anthropic === undefined ? null : once(() => createAnthropic(anthropic, fetch, limits, ids)),
    openai: secret === '' ? null : once(() => createOpenAI(openaiClient(), secret, limits, ids)),
    'openai-chat':
      secret === '' && openai?.baseURL === undefined
        ? null
        : once(() => createOpenAIChat(openaiClient(), secret, limits, ids)),
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

/** Made when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
