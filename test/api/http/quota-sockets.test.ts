// Limits of a tenant on a real socket: bodies of unknown length, streams, and clients that leave.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../../src/api/server/server.ts';
import { openApi, type Api, type Body } from '../harness.ts';
import { configOf, listen } from './listening.ts';

const MEGABYTE = 'x'.repeat(1024 * 1024);

let api: Api;
let server: Server;
beforeAll(async () => {
  api = await openApi();
  const tenantLimits = { upload_mb: 4, streams: 1, concurrent_requests: 2 };
  server = await listen(api, { config: { ...configOf({ NIGHTSHIFT_IMPORT_MB: '8' }), tenantLimits } });
});
afterAll(async () => {
  await server.close();
  await api.close();
});

function connected(): Socket {
  const { port, hostname } = new URL(server.url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.on('error', () => undefined);
  return socket;
}

/** Sends so many megabytes in chunks, whatever is answered meanwhile; returns the beginning of the answer. */
async function upload(path: string, megabytes: number): Promise<string> {
  const socket = connected();
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`,
  );
  for (let sent = 0; sent < megabytes && socket.writable; sent += 1)
    if (!socket.write(`100000\r\n${MEGABYTE}\r\n`)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  if (socket.writable) socket.write('0\r\n\r\n');
  if (!socket.closed) await once(socket, 'close');
  return answer;
}

const isAlive = async () => (await fetch(`${server.url}/api/workers`)).status;
const serving = async (): Promise<number> => {
  const usage = (await (await fetch(`${server.url}/api/usage`)).json()) as Body;
  return usage.limits.concurrent_requests.used;
};

test.each([
  ['larger than the route allows', '/api/tokens', 3, '413'],
  ['larger than the tenant may send', '/api/contexts/import', 6, '429'],
])('a body of unknown length that is %s is refused, and the process goes on', async (_, path, megabytes, status) => {
  expect((await upload(path, megabytes)).split(' ', 2)).toEqual(['HTTP/1.1', status]);
  expect(await isAlive()).toBe(200);
  await expect.poll(serving).toBe(0);
});

test('a client that leaves in the middle of its body does no harm', async () => {
  const context = (await api.worker()).context_id;
  for (const head of [
    `GET /api/contexts/${context}/messages HTTP/1.1`,
    'POST /api/workers HTTP/1.1',
    'POST /api/contexts/import HTTP/1.1',
  ]) {
    const socket = connected();
    const fields = 'host: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked';
    socket.write(`${head}\r\n${fields}\r\n\r\n100000\r\n${MEGABYTE.slice(0, 1_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
  expect(await isAlive()).toBe(200);
  await expect.poll(serving).toBe(0);
});

test('requests that wait behind others on a connection no longer count when their client leaves', async () => {
  const { body } = await api.post('/api/workers', { name: 'w', input: { content: 'hi' } });
  const socket = connected();
  const get = `GET /api/jobs/${body.job_id}?wait_ms=60000 HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  socket.write(get + get);
  await expect.poll(serving).toBe(2);
  socket.destroy();
  await expect.poll(serving).toBe(0);
});

test('a stream beyond the limit is refused, until one ends', async () => {
  const context = (await api.worker()).context_id;
  const url = `${server.url}/api/contexts/${context}/events`;
  const first = new AbortController();
  expect((await fetch(url, { signal: first.signal })).status).toBe(200);
  const refused = await fetch(url);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: 'quota_exceeded', param: 'streams' } });
  expect(refused.headers.get('retry-after')).toBe('5');
  first.abort();
  await expect
    .poll(async () => {
      const next = new AbortController();
      const { status } = await fetch(url, { signal: next.signal });
      next.abort();
      return status;
    })
    .toBe(200);
});
