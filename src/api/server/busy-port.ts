/** Checks before the start that the API can listen on HOST and PORT. */
import { createServer } from 'node:net';
import { ConfigError, type Config } from '../../config/config.ts';
import { errorCode } from '../../db/connection/database-errors.ts';

/** Throws `ConfigError` if the port is in use or the process lacks the permission. */
export async function refuseBusyPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const probe = createServer().once('error', reject).listen({ host, port }, resolve);
  await promise.catch((error: unknown) => {
    throw listenError(error, host, port);
  });
  await new Promise((closed) => probe.close(closed));
}

/** Turns an error of `listen` into a message for the operator. */
export function listenError(error: unknown, host: string, port: number): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new ConfigError([
        `PORT ${port} on ${host} is in use: stop the other process, or set PORT to another port (0: any free port)`,
      ]);
    case 'EACCES':
      return new ConfigError([`PORT ${port} needs permissions that this user does not have: set PORT to 1024 or more`]);
    case 'EADDRNOTAVAIL':
      return new ConfigError([
        `HOST ${host} is not an address of this machine: set HOST to one of its addresses, such as 127.0.0.1`,
      ]);
    default:
      return error;
  }
}
