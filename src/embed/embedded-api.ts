/** The API without a listening socket: requests are handed to it, and closing waits for them. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import type { EmbeddedCaller } from '../api/embedded/callers.ts';
import { apiPorts, type Platform } from '../platform/platform.ts';
import { openCallers } from './callers.ts';
import { carry, type Carried } from './carry.ts';

type Identify = () => Promise<EmbeddedCaller | null>;

export type EmbeddedApi = {
  log: Logger;
  /** Answers a request that another server received. */
  dispatch(request: IncomingMessage, response: ServerResponse, identify: Identify): void;
  /** Answers a request that has no connection. */
  carry(request: Carried, identify: Identify): Promise<Response>;
  /** Ends streams and waits for the other requests, at most as long as a request may take. Idempotent. */
  close(): Promise<void>;
};

/** `path`: under which the service serves it. */
export async function openEmbeddedApi(platform: Platform, log: Logger, path: string): Promise<EmbeddedApi> {
  const { openApp } = await import('../api/server/server.ts');
  const { attach, embedded } = openCallers();
  const ports = { ...apiPorts(platform, 'production'), consoleFolder: null, logger: log };
  const app = await openApp(ports, { path, embedded });
  await app.ready();
  const requests = openRequests(app.server);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await app.close();
    await pTimeout(requests.ended(), { milliseconds: platform.config.requestMs }).catch(() => undefined);
  };
  return {
    log,
    dispatch(request, response, identify) {
      attach(request, identify);
      requests.add(response);
      app.routing(request, response);
    },
    carry: (request, identify) => carry(app.server, request, (connection) => attach(connection, identify)),
    close: () => (closing ??= close()),
  };
}

/** Those that have no complete answer yet. */
function openRequests(server: Server) {
  const open = new Set<ServerResponse>();
  const waiting = new Set<() => void>();
  const add = (response: ServerResponse): void => {
    open.add(response);
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) for (const end of waiting) end();
    });
  };
  server.on('request', (_, response) => add(response));
  return {
    add,
    ended: () => new Promise<void>((resolve) => (open.size === 0 ? resolve() : void waiting.add(resolve))),
  };
}
