/**
 * The HTTP beneath the SDKs: `fetch` as far as they use it, on undici's dispatcher. The global `fetch` is the same client with
 * web streams above it, which cost more than the network does. Time-outs are the watch's. A redirect is an answer like any
 * other: a key goes nowhere but where it was meant to go.
 */
import { Agent, EnvHttpProxyAgent } from 'undici';
import { Exchange } from './exchange.ts';

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Connections are made as they are needed, serve one call at a time, and are kept for a few seconds behind it. */
const SETTINGS = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };

/** An answer is small beside its prompt, and a compressed stream is dear on both sides. What is compressed all the same is read. */
const PLAIN: [string, string] = ['accept-encoding', 'identity'];

/** `useEnvProxy`: by way of `HTTPS_PROXY` and its sisters. */
export function createFetch(useEnvProxy: boolean): Fetch {
  const agent = useEnvProxy ? new EnvHttpProxyAgent(SETTINGS) : new Agent(SETTINGS);
  return (target, { signal, method, headers, body } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (typeof body !== 'string') throw new TypeError('Only text is sent to a provider.');
      const { origin, pathname, search } = new URL(target instanceof Request ? target.url : target);
      agent.dispatch(
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
}
