/** The provider `anthropic`: the Messages API through the official SDK, which the first call loads. */
import type { Ids } from '../../core/ids.ts';
import type { Model } from '../../core/model/model.ts';
import { once } from '../../core/once.ts';
import { createModel } from '../wire/call.ts';
import type { Fetch } from '../wire/http/fetch.ts';
import type { Limits } from '../wire/wire.ts';
import { sdkOptions } from '../wire/http/sdk.ts';
import { ANTHROPIC, readAnswer } from './answer.ts';
import { createAssembly } from './assembly.ts';
import { writeRequest } from './request.ts';

export type AnthropicOptions = { apiKey: string; baseURL?: string };

export function createAnthropic(options: AnthropicOptions, fetch: Fetch, limits: Limits, ids: Ids): Model {
  const client = once(async () => {
    const sdk = await import('@anthropic-ai/sdk');
    return new sdk.Anthropic({ apiKey: options.apiKey, ...sdkOptions(fetch, options.baseURL) });
  });
  return createModel(
    {
      load: client,
      write: writeRequest,
      send: (sdk, params, signal) => sdk.messages.create(params, { signal }).asResponse(),
      assembly: createAssembly,
      answer: readAnswer,
    },
    { provider: ANTHROPIC, secret: options.apiKey, limits, ids },
  );
}
