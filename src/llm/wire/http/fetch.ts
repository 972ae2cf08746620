/**
 * The HTTP client under the SDKs: the part of `fetch` that they use, on undici's dispatcher. The global `fetch` is
 * the same client with web streams on top, which cost more CPU than the network. Timeouts are handled by `watch.ts`.
 * Redirects are not followed, so a key is sent only to the configured host.
 */
import { once } from '../../../core/once.ts';

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Connections are opened on demand, serve one call at a time, and stay open for a few seconds afterwards. */
const SETTINGS = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };

/**
 * Requests uncompressed answers: an answer is small compared to its prompt, and compressing a stream is expensive on
 * both sides. Compressed answers are decoded anyway.
 */
const PLAIN: [string, string] = ['accept-encoding', 'identity'];

/**
 * `useEnvProxy`: use `HTTPS_PROXY` and related variables. The first call loads undici, and by the class `Response` the
 * copy of it that is in Node.js.
 */
export function createFetch(useEnvProxy: boolean): Fetch {
  const client = once(async () => {
    const [{ Agent, EnvHttpProxyAgent }, { Exchange }] = await Promise.all([import('undici'), import('./exchange.ts')]);
    return { dispatcher: useEnvProxy ? new EnvHttpProxyAgent(SETTINGS) : new Agent(SETTINGS), Exchange };
  });
  return async (target, { signal, method, headers, body } = {}) => {
    const { dispatcher, Exchange } = await client();
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (typeof body !== 'string') throw new TypeError('The body of a provider request must be a string.');
      const { origin, pathname, search } = new URL(target instanceof Request ? target.url : target);
      dispatcher.dispatch(
        {
          origin,
          path: `${pathname}${search}`,
          method: method ?? 'GET',
          headers: [...new Headers(headers), PLAIN].flat(),
          body,
        },
        new Exchange(signal ?? null, resolve, reject),
      );
    });
  };
}
