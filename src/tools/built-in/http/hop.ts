/** One request to one host: connected to an address that was checked, through no proxy, on a connection of its own. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import { ToolFault } from '../../tool-fault.ts';
import { bare } from './gatekeeper.ts';
import type { Address, Gatekeeper } from './gatekeeper.ts';

export type Hop = {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
};

/** Resolves with the head of the response; its body is the caller's to read or to destroy. Throws `ToolFault`. */
export async function send(
  { url, method, headers, body }: Hop,
  gatekeeper: Gatekeeper,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
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
      // An agent of its own knows no proxy of the environment.
      agent: new of.Agent({ keepAlive: false }),
      lookup: only(addresses),
      signal,
    });
    request.once('socket', (socket) =>
      socket.once('connect', () => {
        if (!gatekeeper.mayReach(host, socket.remoteAddress ?? '')) {
          request.destroy(new ToolFault('address_forbidden', `The host ${host} must not be asked.`));
        }
      }),
    );
    request.once('response', resolve);
    request.once('error', (error) =>
      reject(error instanceof ToolFault ? error : connectionFault(host, error)),
    );
    request.end(body ?? undefined);
  });
}

/** Whoever connects is told what was checked, whatever it asks for. */
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
    ? new ToolFault('invalid_response', `The host ${host} does not answer in HTTP (${code}).`)
    : new ToolFault('connection_failed', `The request to ${host} failed: ${code}.`);
}

/** A look-up cannot be ended: it is left behind. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
