/** Options of both SDKs. Nothing is retried, and `watch.ts` handles timeouts: that of the SDK is the longest timer. */
import type { Fetch } from './fetch.ts';

export function sdkOptions(fetch: Fetch, baseURL: string | undefined) {
  return {
    // Not undefined: then an SDK would read an environment variable itself.
    baseURL: baseURL ?? null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    fetch,
    logLevel: 'off',
  } as const;
}
