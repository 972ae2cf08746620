/** One SDK client for both of OpenAI's formats. Without a key, for local servers, no authorization header is sent. */
import OpenAI from 'openai';
import type { Fetch } from '../wire/http/fetch.ts';
import { SDK_TIMEOUT_MS } from '../wire/http/sdk.ts';

export type OpenAIOptions = { apiKey?: string; baseURL?: string };

export function createClient(options: OpenAIOptions, fetch: Fetch): OpenAI {
  return new OpenAI({
    apiKey: options.apiKey ?? 'none',
    ...(options.apiKey === undefined ? { defaultHeaders: { authorization: null } } : {}),
    ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    fetch,
    logLevel: 'off',
  });
}
