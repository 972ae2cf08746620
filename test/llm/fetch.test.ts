/**
 * The transport alone, against servers that behave and servers that do not. The resulting model calls are tested in
 * `conformance`.
 */
import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type Server as SocketServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync, constants } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createFetch, type Fetch } from '../../src/llm/wire/http/fetch.ts';
import { LiveResponse } from '../../src/llm/wire/http/live-response.ts';
import { listenLocally } from '../services/local-server.ts';

const open: (Server | SocketServer)[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const socket of sockets) socket.destroy();
  await Promise.all(open.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(server: Server | SocketServer): Promise<string> {
  open.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  return `http://127.0.0.1:${await listenLocally(server)}`;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

const serve = (answer: Answer): Promise<string> =>
  listen(createServer((request, response) => void answer(request, response)));

/** Once a request arrived, `speak` gets its socket. */
const serveRaw = (speak: (socket: Socket) => void): Promise<string> =>
  listen(createSocketServer((socket) => void socket.once('data', () => speak(socket))));

async function post(fetch: Fetch, url: string, init: RequestInit = {}): Promise<LiveResponse> {
  const response = await fetch(`${url}/v1/messages?beta=true`, { method: 'POST', body: '{}', ...init });
  if (!(response instanceof LiveResponse)) throw new Error('another kind of response');
  return response;
}

/** The thrown error has a code somewhere, which distinguishes it from a bug. */
async function codeOf(thrown: Promise<unknown>): Promise<unknown> {
  const error = await thrown.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) return error;
  const cause = error.cause ?? error;
  return cause instanceof Error ? (Reflect.get(cause, 'code') ?? cause.name) : cause;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.on('close', () => resolve());
  });
}

describe('a request and its answer', () => {
  test('have method, path, headers and body; status, headers and bytes', async () => {
    const received: unknown[] = [];
    const url = await serve(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(Buffer.from(part));
      const { method, url: path, headers } = request;
      received.push({ method, path, key: headers['x-api-key'], type: headers['content-type'] });
      received.push(headers['accept-encoding'], headers['content-length'], Buffer.concat(parts).toString());
      response.writeHead(429, { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] }).end('Sölow down.');
    });
    const headers = new Headers({ 'X-Api-Key': 'key', 'content-type': 'application/json' });
    const response = await post(createFetch(false), url, { headers, body: '{"a":"ö"}' });
    expect(received).toEqual([
      { method: 'POST', path: '/v1/messages?beta=true', key: 'key', type: 'application/json' },
      'identity',
      '10',
      '{"a":"ö"}',
    ]);
    expect([response.status, response.ok, response.headers.get('retry-after')]).toEqual([429, false, '7']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('Sölow down.');
  });

  test('an informational response is not the answer', async () => {
    const url = await serve((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('whole');
    });
    const response = await post(createFetch(false), url);
    expect([response.status, await response.text()]).toEqual([200, 'whole']);
  });

  test('a redirect is an answer: no other server gets the key', async () => {
    let strangers = 0;
    const elsewhere = await serve((_request, response) => {
      strangers += 1;
      response.end();
    });
    const url = await serve((_request, response) => void response.writeHead(307, { location: elsewhere }).end());
    const response = await post(createFetch(false), url);
    expect([response.status, response.ok, await response.text(), strangers]).toEqual([307, false, '', 0]);
  });

  test('a body that arrives byte by byte is complete, and so is one that is read slowly', async () => {
    const url = await serve(async ({ headers }, response) => {
      if (headers['x-slow'] === undefined) {
        response.end(Buffer.alloc(8_000_000, 'x'));
        return;
      }
      for (const byte of 'data: one\n\n') {
        response.write(byte);
        await setImmediate();
      }
      response.end();
    });
    const fetch = createFetch(false);
    expect(await (await post(fetch, url, { headers: { 'x-slow': '1' } })).text()).toBe('data: one\n\n');
    const large = await post(fetch, url);
    let length = 0;
    for (let read = await large.read(); read.kind !== 'end'; read = await large.read()) {
      if (read.kind === 'threw') throw read.error;
      length += read.bytes.length;
      await setImmediate();
    }
    expect(length).toBe(8_000_000);
  });

  test('go through the proxy of the environment, where that is enabled', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('by proxy');
    });
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    const proxyUrl = await listen(proxy);
    const url = await serve((_request, response) => void response.end('straight'));
    for (const name of ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'])
      vi.stubEnv(name, undefined);
    vi.stubEnv('HTTP_PROXY', proxyUrl);
    expect(await (await post(createFetch(false), url)).text()).toBe('straight');
    expect(asked).toEqual([]);
    await post(createFetch(true), url).catch(() => undefined);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain(new URL(url).host);
    vi.stubEnv('NO_PROXY', '127.0.0.1');
    expect(await (await post(createFetch(true), url)).text()).toBe('straight');
  });
});

describe('a failure', () => {
  test('no server', async () => {
    const server = createSocketServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await codeOf(post(createFetch(false), url))).toBe('ECONNREFUSED');
  });

  test.each(['', 'HTTP/1.1 200', 'HTTP/1.1 200 OK\r\ncontent-ty'])('cut in the head, after %j', async (sent) => {
    const url = await serveRaw((socket) => void socket.end(sent));
    expect(await codeOf(post(createFetch(false), url))).toMatch(/^[A-Z][A-Z_]+$/);
  });

  test('no HTTP at all', async () => {
    const url = await serveRaw((socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
    expect(await codeOf(post(createFetch(false), url))).toBe('HTTPParserError');
  });

  test.each([
    ['transfer-encoding: chunked', '5\r\nhello\r\nff\r\nwor', 'UND_ERR_SOCKET'],
    ['content-length: 100', 'hello', 'UND_ERR_SOCKET'],
    ['transfer-encoding: chunked', '5\r\nhello\r\nno size\r\n', 'HTTPParserError'],
  ])('in the middle of a body with %s, after %j', async (header, body, code) => {
    const url = await serveRaw((socket) => void socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${body}`));
    const response = await post(createFetch(false), url);
    const reads: string[] = [];
    let read = await response.read();
    for (; read.kind === 'chunk'; read = await response.read()) reads.push(Buffer.from(read.bytes).toString());
    expect(reads.join('')).toMatch(/^hello(wor)?$/);
    expect(read.kind).toBe('threw');
    const error = read.kind === 'threw' ? read.error : null;
    expect(error).toMatchObject({ message: 'terminated' });
    expect(await codeOf(Promise.reject(error))).toBe(code);
  });
});

describe('an abort', () => {
  test('before the request: nothing is sent', async () => {
    const url = await serve(() => expect.unreachable());
    const reason = new Error('enough');
    await expect(post(createFetch(false), url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('during the connect: it rejects at once, and nothing is sent', async () => {
    const marks: unknown[] = [];
    const url = await serve(({ headers }, response) => {
      marks.push(headers['x-mark']);
      response.end();
    });
    const fetch = createFetch(false);
    const controller = new AbortController();
    const first = post(fetch, url, { signal: controller.signal, headers: { 'x-mark': 'first' } });
    controller.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    await post(fetch, url, { headers: { 'x-mark': 'second' } });
    expect(marks).toEqual(['second']);
  });

  test.each(['nothing', 'half a head'])('after %s: the connection is closed', async (sent) => {
    const asked = Promise.withResolvers<Socket>();
    const url = await serveRaw((socket) => {
      if (sent !== 'nothing') socket.write('HTTP/1.1 200 OK\r\ncontent-ty');
      asked.resolve(socket);
    });
    const controller = new AbortController();
    const call = post(createFetch(false), url, { signal: controller.signal });
    const socket = await asked.promise;
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await closed(socket);
  });

  test('in the middle of the body: the connection is closed, the reader gets the error', async () => {
    const asked = Promise.withResolvers<IncomingMessage>();
    const url = await serve((request, response) => {
      asked.resolve(request);
      response.write('data: one\n\n');
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const response = await post(createFetch(false), url, { signal: controller.signal });
    expect((await response.read()).kind).toBe('chunk');
    const next = response.read();
    controller.abort(reason);
    expect(await next).toEqual({ kind: 'threw', error: reason });
    await closed((await asked.promise).socket);
  });

  test('in the middle of a compressed body: the same', async () => {
    const asked = Promise.withResolvers<IncomingMessage>();
    const url = await serve((request, response) => {
      asked.resolve(request);
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write('data: one\n\n');
      gzip.flush(constants.Z_SYNC_FLUSH);
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const response = await post(createFetch(false), url, { signal: controller.signal });
    const first = await response.read();
    expect(first.kind === 'chunk' && Buffer.from(first.bytes).toString()).toBe('data: one\n\n');
    const next = response.read();
    controller.abort(reason);
    expect(await next).toEqual({ kind: 'threw', error: reason });
    await closed((await asked.promise).socket);
  });
});

describe('a body that is compressed without a request for it', () => {
  const text = 'data: {"text":"🦉"}\n\n'.repeat(10_000);
  test.each([
    ['gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
  ])('%s', async (encoding, body) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    const response = await post(createFetch(false), url);
    // Not read for a while: more is decompressed than is buffered.
    await setImmediate();
    expect(await response.text()).toBe(text);
  });

  test('fails where it breaks off, and where it is invalid', async () => {
    const cut = gzipSync(text).subarray(0, 100);
    const url = await serve(({ headers }, response: ServerResponse) => {
      const body = headers['x-wrong'] === undefined ? cut : 'plain words';
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
    });
    const fetch = createFetch(false);
    expect(await codeOf((await post(fetch, url)).text())).toBe('Z_BUF_ERROR');
    const wrong = await post(fetch, url, { headers: { 'x-wrong': '1' } });
    expect(await codeOf(wrong.text())).toBe('Z_DATA_ERROR');
  });
});

describe('many calls', () => {
  test('at once have a connection each, and later ones reuse these', async () => {
    const waiting: ServerResponse[] = [];
    const all = Promise.withResolvers<void>();
    const seen = new Set<Socket>();
    const url = await serve((request, response) => {
      seen.add(request.socket);
      waiting.push(response);
      if (waiting.length === 300) all.resolve();
      if (waiting.length > 300) response.end('again');
    });
    const fetch = createFetch(false);
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 300 }, () => post(fetch, url, { signal }));
    await all.promise;
    expect(seen.size).toBe(300);
    for (const [index, response] of waiting.entries()) response.end(`answer ${index}`);
    const texts = await Promise.all(calls.map(async (call) => (await call).text()));
    expect(new Set(texts).size).toBe(300);
    // A connection is idle for a round of the event loop.
    await setImmediate();
    for (let count = 0; count < 20; count += 1) expect(await (await post(fetch, url, { signal })).text()).toBe('again');
    expect(seen.size).toBeLessThan(320);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that failed leave no listener behind', async () => {
    const url = await serveRaw((socket) => void socket.destroy());
    const { signal } = new AbortController();
    const fetch = createFetch(false);
    for (let count = 0; count < 3; count += 1) await post(fetch, url, { signal }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
