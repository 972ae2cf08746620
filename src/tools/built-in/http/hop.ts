/** One request to one host: uses a checked address, no proxy and a new connection. */
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { http, https } from '../../../node-http.ts';
import { ToolFault } from '../../run/tool-fault.ts';
import { bare, type Address, type Gatekeeper } from './gatekeeper.ts';

export type Hop = {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
};

/** Resolves with the head of the response. The caller reads or destroys the body. Throws `ToolFault`. */
export async function send(
  { url, method, headers, body }: Hop,
  gatekeeper: Gatekeeper,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = bare(url.hostname);
  const addresses = await untilAborted(gatekeeper.admit(url.hostname), signal);
  const of = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const request = of.request({
      protocol: url.protocol,
      hostname: host,
      port: url.port,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { ...headers, ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }) },
      // A separate agent ignores the proxy settings of the environment.
      agent: new of.Agent({ keepAlive: false }),
      lookup: only(addresses),
      signal,
    });
    request.once('socket', (socket) =>
      socket.once('connect', () => {
        if (!gatekeeper.mayReach(host, socket.remoteAddress ?? '')) {
          request.destroy(new ToolFault('address_forbidden', `Requests to the host ${host} are forbidden.`));
        }
      }),
    );
    request.once('response', resolve);
    request.once('error', (error) => reject(error instanceof ToolFault ? error : connectionFault(host, error)));
    request.end(body ?? undefined);
  });
}

/** A lookup function that returns only the checked addresses. */
function only(addresses: readonly Address[]): LookupFunction {
  return (_, options, done) => {
    const [first] = addresses;
    if (options.all === true) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
}

function connectionFault(host: string, error: NodeJS.ErrnoException): ToolFault {
  const code = error.code ?? error.name;
  return code.startsWith('HPE_')
    ? new ToolFault('invalid_response', `The host ${host} did not send a valid HTTP response (${code}).`)
    : new ToolFault('connection_failed', `The connection to ${host} failed (${code}).`);
}

/** DNS lookups cannot be aborted; on abort the result is ignored. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
