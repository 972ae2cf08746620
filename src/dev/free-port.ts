// A TCP port of 127.0.0.1 that is free now. Another process may take it before it is used, so the caller tries again
// with a new port.
import { createServer } from 'node:net';

export async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => resolve(port));
  });
  return promise;
}
