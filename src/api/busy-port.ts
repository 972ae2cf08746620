/** Whether the API can listen where it is told to: asked before anything else is started. */
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config.ts';
import { errorCode } from '../db/client.ts';

/** Throws `ConfigError` where something else listens there, or the process may not. */
export async function refuseBusyPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const probe = createServer().once('error', reject).listen({ host, port }, resolve);
  await promise.catch((error: unknown) => {
    throw listenError(error, host, port);
  });
  await new Promise((closed) => probe.close(closed));
}

/** The error of a `listen`, in words for whoever starts the process. */
export function listenError(error: unknown, host: string, port: number): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new ConfigError([
        `PORT ${port} on ${host} is in use: stop what listens there, or set PORT (0: any free port)`,
      ]);
    case 'EACCES':
      return new ConfigError([`PORT ${port} may not be used by this user: set PORT to 1024 or more`]);
    case 'EADDRNOTAVAIL':
      return new ConfigError([`HOST ${host} is not an address of this machine`]);
    default:
      return error;
  }
}
