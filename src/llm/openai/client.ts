/**
 * One SDK client for both of OpenAI's formats. Without a key, for local servers, no authorization header is sent. The
 * first call loads the SDK.
 */
import type OpenAI from 'openai';
import { once } from '../../core/once.ts';
import type { Fetch } from '../wire/http/fetch.ts';
import { sdkOptions } from '../wire/http/sdk.ts';

export type OpenAIOptions = { apiKey?: string; baseURL?: string };

export type OpenAIClient = () => Promise<OpenAI>;

export function openaiClient(options: OpenAIOptions, fetch: Fetch): OpenAIClient {
  return once(async () => {
    const sdk = await import('openai');
    return new sdk.OpenAI({
      apiKey: options.apiKey ?? 'none',
      // Not undefined: then the SDK would read environment variables itself.
      adminAPIKey: null,
      organization: null,
      project: null,
      ...(options.apiKey === undefined ? { defaultHeaders: { authorization: null } } : {}),
      ...sdkOptions(fetch, options.baseURL),
    });
  });
}

/** Whether these options reach OpenAI itself, rather than a compatible server. */
export function isOfficial({ baseURL }: OpenAIOptions): boolean {
  return baseURL === undefined || new URL(baseURL).hostname === 'api.openai.com';
}
