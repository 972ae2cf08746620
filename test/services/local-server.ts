// Servers inside the test process, on a free port of this machine.
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

/** Resolves with the port once the server listens. */
export async function listenLocally(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Ends its connections, and resolves once it is closed. */
export async function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
