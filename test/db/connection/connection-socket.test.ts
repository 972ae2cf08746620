// An unhandled 'error' event ends the process: the socket's errors are always handled, even when the driver has removed
// its listeners.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setImmediate as soon } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ConnectionSocket } from '../../../src/db/connection/connection-socket.ts';

test('a write before the socket is connected may fail without an unhandled error, where the connection is abandoned', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ended = Promise.withResolvers<Error | null>();
  const socket = new ConnectionSocket('127.0.0.1', ended.resolve);
  // As the driver does after the end of the connection.
  socket.once('close', () => void socket.removeAllListeners());
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('hello');
  const faults: unknown[] = [];
  const fault = (error: unknown): void => void faults.push(error);
  process.on('uncaughtException', fault);
  socket.abandon();
  await ended.promise;
  await soon();
  process.off('uncaughtException', fault);
  server.close();
  expect(faults).toEqual([]);
  expect(socket.destroyed).toBe(true);
});
