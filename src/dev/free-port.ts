// A TCP port of 127.0.0.1 that nobody listens on at the moment. Another process may take it before it is used:
// whoever starts a service on it tries again with a new one.
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
