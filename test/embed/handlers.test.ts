// The API within another service: under a path, beside the service's own routes, with callers that the service knows.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import type { FetchHandler, NightshiftCaller } from '../../src/index.ts';
import type { Body } from '../api/harness.ts';
import { afterTest, openNightshift } from './opened.ts';

const CALLER: NightshiftCaller = { tenant: 'acme', scopes: ['read', 'run', 'configure', 'approve', 'keys'] };

/** As a cookie of the service. */
const signedIn = (headers: Headers): NightshiftCaller | null =>
  headers.get('cookie') === 'session=known' ? CALLER : null;
const COOKIE = { cookie: 'session=known' };

const post = (url: string, body: object, headers: Record<string, string> = COOKIE): Request =>
  new Request(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

const bodyOf = async (answer: Response): Promise<Body> => JSON.parse(await answer.text());

async function fetchHandler(path = '/agents'): Promise<FetchHandler> {
  const nightshift = await openNightshift();
  return nightshift.fetchHandler({ path, authenticate: ({ headers }) => signedIn(headers) });
}

test('a fetch handler answers under its path, with URLs that have the path', async () => {
  const handle = await fetchHandler();
  const made = await handle(
    post('https://service.test/agents/api/workers', { name: 'w', input: { content: 'say: hello' } }),
  );
  expect(made.status).toBe(201);
  const { id, context_id, stream_url } = await bodyOf(made);
  expect(made.headers.get('location')).toBe(`/agents/api/workers/${id}`);
  expect(stream_url).toMatch(new RegExp(`^/agents/api/contexts/${context_id}/events`));
  const document = await handle(new Request('https://service.test/agents/api/openapi.json', { headers: COOKIE }));
  expect((await bodyOf(document)).servers).toEqual([{ url: '/agents' }]);
  for (const elsewhere of ['/api/workers', '/agentsapi/workers', '/'])
    expect((await handle(new Request(`https://service.test${elsewhere}`, { headers: COOKIE }))).status).toBe(404);
  const page = { ...COOKIE, accept: 'text/html' };
  for (const absent of ['/agents', '/agents/', '/agents/docs', '/agents/jobs'])
    expect((await handle(new Request(`https://service.test${absent}`, { headers: page }))).status).toBe(404);
});

test('a stream is read event by event, and ends at the server when its reader leaves', async () => {
  const nightshift = await openNightshift();
  const handle = await nightshift.fetchHandler({ authenticate: ({ headers }) => signedIn(headers) });
  const { context_id } = await nightshift.tenant('acme').workers.create({ name: 'w' });
  const open = async (): Promise<string> => {
    const figures = await handle(new Request('http://service.test/api/usage', { headers: COOKIE }));
    return JSON.stringify(await figures.json());
  };
  const idle = await open();
  const left = new AbortController();
  const url = `http://service.test/api/contexts/${context_id}/events?after=0`;
  const stream = await handle(new Request(url, { headers: COOKIE, signal: left.signal }));
  const reader = stream.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('retry: 2000');
  expect(await open()).not.toBe(idle);
  left.abort();
  await expect.poll(open, { timeout: 10_000 }).toBe(idle);
  await expect(reader?.read()).rejects.toThrow();
});

test('a caller with a user sees the contexts of this user, and may not have more scopes than a token', async () => {
  const nightshift = await openNightshift();
  const handle = await nightshift.fetchHandler({
    authenticate: ({ headers }): NightshiftCaller => ({
      tenant: 'acme',
      user: headers.get('x-user') ?? '',
      scopes: headers.has('x-keys') ? ['read', 'keys'] : ['read', 'run'],
    }),
  });
  const made = await handle(post('http://service.test/api/contexts', {}, { 'x-user': 'alice' }));
  const { id } = await bodyOf(made);
  const read = (user: string): Promise<Response> =>
    handle(new Request(`http://service.test/api/contexts/${id}`, { headers: { 'x-user': user } }));
  expect((await read('alice')).status).toBe(200);
  expect((await read('bob')).status).toBe(404);
  const more = { 'x-user': 'alice', 'x-keys': '1' };
  const tooMuch = await handle(new Request('http://service.test/api/contexts', { headers: more }));
  expect(tooMuch.status).toBe(500);
});

test('null leaves the caller to keys; an error is logged without credentials', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const key = 'a-key-of-the-environment-1234567';
  const nightshift = await openNightshift({ logger, env: { NIGHTSHIFT_API_KEYS: `${key}:acme:read` } });
  const handle = await nightshift.fetchHandler({
    async authenticate({ headers }) {
      const authorization = headers.get('authorization');
      if (authorization?.includes('broken') === true) throw new Error(`cannot verify ${authorization}`);
      return null;
    },
  });
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await handle(new Request('http://service.test/api/workers', { headers }))).status;
  expect(await status({})).toBe(401);
  expect(await status({ authorization: `Bearer ${key}` })).toBe(200);
  expect(await status({ authorization: 'Bearer broken-secret-token' })).toBe(500);
  expect(lines.join('')).toContain('authenticate failed');
  expect(lines.join('')).not.toContain('broken-secret-token');
});

test('a page of another origin cannot use the cookies of the service', async () => {
  const handle = await fetchHandler();
  const from = (headers: Record<string, string>): Promise<Response> =>
    handle(post('https://service.test/agents/api/workers', { name: 'w' }, { ...COOKIE, ...headers }));
  expect((await from({ origin: 'https://evil.test' })).status).toBe(403);
  expect((await from({ origin: 'https://service.test' })).status).toBe(201);
  // A browser sends this by itself, too.
  expect((await from({ origin: 'https://evil.test', authorization: 'Basic dTpw' })).status).toBe(403);
});

test('an API that would answer anyone is refused, until there is a key', async () => {
  const nightshift = await openNightshift();
  await expect(nightshift.fetchHandler()).rejects.toMatchObject({ code: 'open_api' });
  const { key } = await nightshift.tenant('acme').keys.create({ name: 'first', scopes: ['read'] });
  const handle = await nightshift.fetchHandler();
  const read = (headers: Record<string, string>): Promise<Response> =>
    handle(new Request('http://127.0.0.1/api/workers', { headers }));
  expect((await read({})).status).toBe(401);
  expect((await read({ authorization: `Bearer ${key}` })).status).toBe(200);
});

test('a handler for node:http passes other paths on, and streams', async () => {
  const nightshift = await openNightshift();
  await nightshift.startWorker();
  type Known = http.IncomingMessage & { user?: string; originalUrl?: string };
  const handle = await nightshift.nodeHandler<Known>({
    path: '/agents',
    authenticate: ({ user }) => (user ? CALLER : null),
  });
  const server = http.createServer((request: Known, response) => {
    // As a middleware of the service does.
    if (request.headers.cookie === COOKIE.cookie) request.user = 'known';
    // As a router of Express does for its path.
    request.originalUrl = request.url ?? '';
    request.url = request.originalUrl.replace(/^\/agents/, '');
    handle(request, response, () => response.end('the service'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterTest(async () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await fetch(url).then((answer) => answer.text())).toBe('the service');
  expect((await fetch(`${url}/agents/api/workers`)).status).toBe(401);
  const client = createClient({
    url: `${url}/agents`,
    fetch: (input, init) =>
      fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...COOKIE } }),
  });
  const config = { model: 'simulated/default' };
  const { context_id } = await client.workers.create({ name: 'w', config });
  const job = await client.contexts.run(context_id, { input: 'say: over a socket' });
  expect(job.output?.text).toBe('over a socket');
});

test('a body that the service has read is an error that says so', async () => {
  const nightshift = await openNightshift();
  const handle = await nightshift.nodeHandler({ authenticate: () => CALLER });
  const server = http.createServer((request, response) => {
    request.resume().once('end', () => handle(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterTest(async () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/workers`;
  const answer = await fetch(url, {
    method: 'POST',
    body: '{"name": "w"}',
    headers: { 'content-type': 'application/json' },
  });
  expect(answer.status).toBe(500);
  expect((await bodyOf(answer)).detail).toContain('before Nightshift got it');
});

test('a Fastify application keeps its own parsers, hooks, errors and 404s', async () => {
  const nightshift = await openNightshift();
  const app = Fastify();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => done(null, { parsed: body }));
  app.setErrorHandler(async (error, _, reply) => reply.code(418).send({ own: String(error) }));
  app.setNotFoundHandler(async (_, reply) => reply.code(404).send({ own: 'not found' }));
  app.addHook('onRequest', async (_, reply) => void reply.header('x-own', 'yes'));
  app.post('/echo', async ({ body }) => body);
  app.get('/fails', async () => {
    throw new Error('own');
  });
  const authenticate = ({ headers }: FastifyRequest): NightshiftCaller | null =>
    headers.cookie === COOKIE.cookie ? CALLER : null;
  await app.register(await nightshift.fastifyPlugin({ authenticate }), { prefix: '/agents' });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  afterTest(() => app.close());
  const json = { 'content-type': 'application/json', ...COOKIE };
  const made = await fetch(`${url}/agents/api/workers`, {
    method: 'POST',
    headers: json,
    body: '{"name": "w", "input": {"content": "x"}}',
  });
  expect([made.status, made.headers.get('x-own')]).toEqual([201, 'yes']);
  const { context_id, stream_url } = await bodyOf(made);
  const stream = await fetch(`${url}${stream_url}`, { headers: COOKIE });
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect(stream_url).toContain(context_id);
  const wrong = await fetch(`${url}/agents/api/workers`, { method: 'POST', headers: json, body: '{' });
  expect([wrong.status, (await bodyOf(wrong)).error.code]).toEqual([400, 'invalid_request']);
  expect((await fetch(`${url}/agents/api/workers`)).status).toBe(401);
  const own = async (path: string, init?: RequestInit): Promise<unknown> => (await fetch(`${url}${path}`, init)).json();
  expect(await own('/echo', { method: 'POST', headers: json, body: '{}' })).toEqual({ parsed: '{}' });
  expect(await own('/fails')).toEqual({ own: 'Error: own' });
  expect(await own('/other')).toEqual({ own: 'not found' });
  // The open stream does not keep the application from closing.
  await app.close();
});
