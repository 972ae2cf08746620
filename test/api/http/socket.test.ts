// Behaviour of a real socket: large bodies, clients that disconnect, closing, broken HTTP, and the listen address.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { refuseBusyPort } from '../../../src/api/server/busy-port.ts';
import type { Server } from '../../../src/api/server/server.ts';
import type { Environment } from '../../../src/config/environment.ts';
import { tagOf } from '../../services/statements.ts';
import { openApi, type Api, type Body } from '../harness.ts';
import { configOf, listen } from './listening.ts';

let api: Api;
let server: Server;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  server = await start({});
});
afterEach(() => server.close());

const start = (env: Environment, logger = pino({ level: 'silent' })): Promise<Server> =>
  listen(api, { config: configOf(env), logger });

const post = (path: string, body: string): Promise<Response> =>
  fetch(`${server.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

async function queuedJob(): Promise<{ worker: Body; job: string }> {
  const worker = await api.worker();
  const { body } = await api.post(`/api/workers/${worker.id}/messages`, { content: 'x' });
  return { worker, job: body.job_id };
}

/** Sends `head` and a body of `bytes`, whatever is answered meanwhile; returns the answer. */
async function upload(head: string, bytes: number): Promise<string> {
  const socket = connectTo(server);
  const answer = receivedOn(socket);
  socket.write(head);
  const chunk = 'x'.repeat(1024 * 1024);
  for (let sent = 0; sent < bytes && socket.writable; sent += chunk.length) {
    const rest = Math.min(chunk.length, bytes - sent);
    if (!socket.write(chunk.slice(0, rest))) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
  return answer;
}

/** All received bytes until the connection closes. */
async function receivedOn(socket: Socket): Promise<string> {
  let output = '';
  socket.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await new Promise((resolve) => socket.once('close', resolve));
  return output;
}

function connectTo({ url }: Server): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.on('error', () => undefined);
  return socket;
}

describe('a body', () => {
  test('of 15 MB is accepted, and comes back', async () => {
    const { worker } = await queuedJob();
    const content = '🦊 '.repeat(3 * 1024 * 1024);
    const posted = await post(`/api/contexts/${worker.context_id}/messages`, JSON.stringify({ content }));
    expect(posted.status).toBe(202);
    const read = await fetch(`${server.url}/api/contexts/${worker.context_id}/messages?order=desc&limit=1`);
    const { data } = (await read.json()) as Body;
    expect(data[0].content[0].text === content).toBe(true);
  });

  test('of 20 MB is 413, also for a client that is still sending', async () => {
    const size = 20 * 1024 * 1024;
    const response = await post('/api/workers', JSON.stringify({ name: 'x'.repeat(size) }));
    expect(response.status).toBe(413);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(((await response.json()) as Body).error.code).toBe('payload_too_large');
    const head = 'POST /api/workers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    expect(await upload(`${head}Content-Length: ${size}\r\n\r\n`, size)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('of 20 MB without a length is 413', async () => {
    const stream = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 20; n += 1) controller.enqueue(new TextEncoder().encode('x'.repeat(1024 * 1024)));
        controller.close();
      },
    });
    const response = await fetch(`${server.url}/api/workers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    });
    expect(response.status).toBe(413);
  });
});

describe('a long poll', () => {
  test('ends when its client disconnects, with no further query', async () => {
    const { job } = await queuedJob();
    const gone = new AbortController();
    const poll = fetch(`${server.url}/api/jobs/${job}?wait_ms=60000`, { signal: gone.signal });
    await untilWaiting();
    gone.abort();
    await expect(poll).rejects.toThrow();
    await untilQuiet();
  });

  test('is answered at once when the process stops', async () => {
    const { job } = await queuedJob();
    const poll = fetch(`${server.url}/api/jobs/${job}?wait_ms=60000`);
    await untilWaiting();
    await server.close();
    const response = await poll;
    expect(response.status).toBe(200);
    expect(((await response.json()) as Body).status).toBe('queued');
  });
});

describe('a search', () => {
  /** Statements of the search that Postgres executes, or that wait there. */
  const underWay = async (): Promise<number> => {
    const rows = await api.database.db.execute<{ count: number }>(sql`
      select count(*)::int as count from pg_stat_activity
      where state = 'active' and query like '/* search.find */%' and pid <> pg_backend_pid()`);
    return rows[0]?.count ?? 0;
  };

  test('ends in Postgres, too, when its client disconnects, and others get their connections', async () => {
    const free = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = api.database.transaction(async (tx) => {
      await tx.execute(sql`lock table search_entries in access exclusive mode`);
      locked.resolve();
      await free.promise;
    });
    await locked.promise;
    const gone = new AbortController();
    const begun = performance.now();
    // More than may search at once: those that wait for their turn disconnect, too.
    const searches = Array.from({ length: 8 }, () =>
      fetch(`${server.url}/api/search?q=words`, { signal: gone.signal }),
    );
    await expect.poll(underWay).toBeGreaterThan(0);
    gone.abort();
    for (const search of searches) await expect(search).rejects.toThrow();
    // Well before its own limit of 5 s.
    await expect.poll(underWay, { timeout: 10_000 }).toBe(0);
    expect(performance.now() - begun).toBeLessThan(4_500);
    free.resolve();
    await holder;
    expect((await fetch(`${server.url}/api/search?q=words`)).status).toBe(200);
  });
});

test('a connection without a request does not keep the server from closing', async () => {
  const socket = connectTo(server);
  const output = receivedOn(socket);
  await once(socket, 'connect');
  // Connections are accepted in order: once a later one is answered, the one before it is known.
  await fetch(`${server.url}/healthz`);
  await server.close();
  expect(await output).toBe('');
});

test('once the server closes, a kept connection is told to close', async () => {
  const { job } = await queuedJob();
  const socket = connectTo(server);
  const answer = receivedOn(socket);
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  socket.write(request(`/api/jobs/${job}?wait_ms=60000`));
  await untilWaiting();
  socket.write(request('/api/workers'));
  await server.close();
  const [first, second] = (await answer).split(/(?=HTTP\/1\.1 )/);
  expect(first).toMatch(/^HTTP\/1\.1 200 /);
  if (second !== undefined) expect(second).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1/);
});

test.each([
  ['no HTTP at all\r\n\r\n', /^HTTP\/1\.1 400 [^]*problem\+json[^]*"code":"invalid_request"/],
  ['GET /healthz HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
  [`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
  ['GET /api/workers HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 403 [^]*problem\+json/],
  [
    'GET /api/workers HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*more than one Host header/,
  ],
  [
    'GET /healthz HTTP/1.1\r\nHost: evil.example\r\nhost: localhost\r\nConnection: close\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*more than one Host header/,
  ],
  ['GET /api/workers HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 403 /],
])('%j is answered and closed', async (request, expected) => {
  const socket = connectTo(server);
  socket.write(request);
  expect(await receivedOn(socket)).toMatch(expected);
});

describe('without keys', () => {
  test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com'])('the server refuses to listen on %s', async (host) => {
    await expect(start({ HOST: host })).rejects.toThrow(/HOST \S+ is not a loopback address.*NIGHTSHIFT_API_KEYS/);
  });

  test.each(['127.0.0.1', 'localhost'])('the server listens on %s', async (host) => {
    const other = await start({ HOST: host });
    expect((await fetch(`${other.url}/healthz`)).status).toBe(200);
    await other.close();
  });
});

describe('with a key of less than 16 characters', () => {
  const NIGHTSHIFT_API_KEYS = 'a-key-of-sixteen:t,fifteen-letters:acme,short:acme';

  test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com'])('the server refuses to listen on %s', async (host) => {
    const refused = start({ HOST: host, NIGHTSHIFT_API_KEYS });
    await expect(refused).rejects.toThrow(/keys with fewer than 16 characters \(tenants: acme\): .*openssl/);
    await expect(refused).rejects.not.toThrow(/fifteen-letters|short/);
  });

  test.each(['127.0.0.1', 'localhost'])('the server listens on %s, and logs a warning', async (host) => {
    const warned = await warningsOf({ HOST: host, NIGHTSHIFT_API_KEYS });
    expect(warned).toEqual([expect.stringMatching(/fewer than 16 characters \(tenants: acme\)/)]);
    expect(warned.join()).not.toMatch(/fifteen-letters|short/);
  });

  test('and without any the server logs no warning', async () => {
    expect(await warningsOf({ NIGHTSHIFT_API_KEYS: 'a-key-of-sixteen:t' })).toEqual([]);
    expect(await warningsOf({})).toEqual([]);
  });

  async function warningsOf(env: Environment): Promise<string[]> {
    const warned: string[] = [];
    const write = (line: string): void => void warned.push(JSON.parse(line).msg);
    await (await start(env, pino({ level: 'warn' }, { write }))).close();
    return warned;
  }
});

test('with keys the server listens on any address', async () => {
  const other = await start({ HOST: '0.0.0.0', NIGHTSHIFT_API_KEYS: 'a-key-of-sixteen:t' });
  const url = other.url.replace('0.0.0.0', '127.0.0.1');
  expect((await fetch(`${url}/api/workers`)).status).toBe(401);
  const headers = { authorization: 'Bearer a-key-of-sixteen' };
  expect((await fetch(`${url}/api/workers`, { headers })).status).toBe(200);
  await other.close();
});

/** Until a long poll has read its job, and its answer is here. */
async function untilWaiting(): Promise<void> {
  api.statements.length = 0;
  while (!api.statements.some((one) => tagOf(one) === 'jobs.read_arrived')) await setTimeout(10);
  await setTimeout(100);
}

/** Until no statement came for longer than the polling interval. */
async function untilQuiet(): Promise<void> {
  do {
    api.statements.length = 0;
    await setTimeout(1_300);
  } while (api.statements.length > 0);
}

test('a busy port is refused in one sentence that names it, before anything is started, too', async () => {
  const { port } = new URL(server.url);
  const busy = new RegExp(`PORT ${port} on 127.0.0.1 is in use`);
  await expect(start({ PORT: port })).rejects.toThrow(busy);
  await expect(refuseBusyPort({ host: '127.0.0.1', port: Number(port) })).rejects.toThrow(busy);
  await refuseBusyPort({ host: '127.0.0.1', port: 0 });
});
