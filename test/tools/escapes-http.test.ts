// Attacks that `http_fetch` must stop: each row is a known attempt, and ends with a coded error and without a request
// to its target.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createToolRunner } from '../../src/tools/run/execute.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';
import { HTTP_FETCH_DEFAULTS, type HttpFetchLimits } from '../../src/tools/built-in/http/limits.ts';
import type { Resolve } from '../../src/tools/built-in/http/gatekeeper.ts';
import { httpFetch } from '../../src/tools/built-in/http/http-fetch.ts';
import type { Json } from '../../src/core/json.ts';
import { call, resultOf } from './invoke.ts';

/** A target that must never get a request: a server on the loopback address. */
let inside: Server;
let asked: string[] = [];
/** An allowed target: another address of the loopback, in place of the public net. */
let outside: Server;
let handler: RequestListener = (_, response) => void response.end('hello');
let [insidePort, outsidePort] = [0, 0];

beforeAll(async () => {
  inside = createServer(({ url, headers }, response) => {
    asked.push(`${headers.host} ${url}`);
    response.end('secret');
  });
  outside = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => void inside.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => void outside.listen(0, '127.0.0.2', resolve));
  insidePort = (inside.address() as AddressInfo).port;
  outsidePort = (outside.address() as AddressInfo).port;
});
afterEach(() => {
  expect(asked).toEqual([]);
  asked = [];
  vi.unstubAllEnvs();
});
afterAll(() => {
  inside.closeAllConnections();
  outside.closeAllConnections();
  inside.close();
  outside.close();
});

const PUBLIC = '127.0.0.2';
const LIMITS: HttpFetchLimits = {
  ...HTTP_FETCH_DEFAULTS,
  allow: [`${PUBLIC}/32`],
  timeoutMs: 60_000,
  bodyBytes: 1_000,
  downloadBytes: 100_000,
};
const noNames: Resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
const named =
  (addresses: Record<string, string[]>): Resolve =>
  async (name) =>
    (addresses[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

async function fetched(
  input: Json,
  { limits = {}, resolve = noNames }: { limits?: Partial<HttpFetchLimits>; resolve?: Resolve } = {},
) {
  const tool = httpFetch({ limits: { ...LIMITS, ...limits }, resultChars: 200_000, resolve });
  const runner = createToolRunner(createRegistry([tool]), {
    limits: { toolResult: 200_000, toolTimeoutMs: 120_000 },
  });
  const { content, is_error } = await resultOf(runner, call('http_fetch', input));
  const result: unknown = JSON.parse(typeof content === 'string' ? content : '');
  return { result, isError: is_error };
}

const refusedWith = (code: string) => ({
  isError: true,
  result: { error: { code, message: expect.any(String) } },
});

const serve = (answer: (request: IncomingMessage, response: ServerResponse) => void): string => {
  handler = answer;
  return `http://${PUBLIC}:${outsidePort}/`;
};

describe('hosts', () => {
  const port = (): number => insidePort;
  test.each<[string, string]>([
    ['loopback', '127.0.0.1'],
    ['the rest of loopback', '127.9.8.7'],
    ['loopback in short', '127.1'],
    ['octal', '0177.0.0.1'],
    ['octal with zeros', '0000177.0.0.01'],
    ['hexadecimal', '0x7f.0.0.1'],
    ['one hexadecimal number', '0x7f000001'],
    ['one decimal number', '2130706433'],
    ['wide digits', '①②⑦.⓪.⓪.①'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['nothing', '0.0.0.0'],
    ['zero in short', '0'],
    ['private 10', '10.1.2.3'],
    ['private 172', '172.31.255.255'],
    ['private 192', '192.168.1.1'],
    ['carriers’ NAT', '100.64.0.1'],
    ['link-local', '169.254.1.1'],
    ['metadata', '169.254.169.254'],
    ['metadata as one number', '2852039166'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['metadata of Oracle', '192.0.0.192'],
    ['metadata of Azure', '168.63.129.16'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['benchmarks', '198.18.0.1'],
    ['documentation', '203.0.113.5'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 nothing', '[::]'],
    ['IPv4-mapped', '[::ffff:127.0.0.1]'],
    ['IPv4-mapped in hexadecimal', '[::ffff:7f00:1]'],
    ['IPv4-mapped metadata', '[::ffff:a9fe:a9fe]'],
    ['IPv4-compatible', '[::127.0.0.1]'],
    ['IPv4-translated', '[::ffff:0:127.0.0.1]'],
    ['NAT64', '[64:ff9b::7f00:1]'],
    ['local NAT64', '[64:ff9b:1::7f00:1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['Teredo', '[2001:0:4136:e378:8000:63bf:80ff:fffe]'],
    ['unique local', '[fd00::1]'],
    ['metadata of AWS over IPv6', '[fd00:ec2::254]'],
    ['IPv6 link-local', '[fe80::1]'],
    ['IPv6 site-local', '[fec0::1]'],
    ['IPv6 multicast', '[ff02::1]'],
    ['IPv6 documentation', '[2001:db8::1]'],
    ['the name of this machine', 'localhost'],
    ['with a dot behind', 'localhost.'],
    ['in capitals', 'LOCALHOST'],
    ['below it', 'a.b.localhost'],
    ['metadata by name', 'metadata.google.internal'],
  ])('%s: %s', async (_, host) => {
    expect(await fetched({ url: `http://${host}:${port()}/` })).toEqual(refusedWith('address_forbidden'));
  });

  test('public hosts are allowed', async () => {
    const { isPublic } = await import('../../src/tools/built-in/http/addresses.ts');
    const addresses = ['1.1.1.1', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'];
    expect(addresses.filter((address) => !isPublic(address))).toEqual([]);
    expect(['', 'x', '1.1.1', '1.1.1.1.1', 'fe80::1%eth0'].filter(isPublic)).toEqual([]);
  });
});

describe('names', () => {
  test.each<[string, string[], string]>([
    ['leads inside', ['127.0.0.1'], 'address_forbidden'],
    ['leads outside and inside', [PUBLIC, '127.0.0.1'], 'address_forbidden'],
    ['leads inside over IPv6', ['::1'], 'address_forbidden'],
    ['leads inside by a mapped address', ['::ffff:127.0.0.1'], 'address_forbidden'],
    ['leads to what is no address', ['nonsense'], 'address_forbidden'],
    ['leads nowhere', [], 'host_not_found'],
  ])('one that %s', async (_, addresses, code) => {
    const resolve = named({ 'evil.example': addresses });
    expect(await fetched({ url: `http://evil.example:${insidePort}/` }, { resolve })).toEqual(refusedWith(code));
  });

  test('one that changes after the check (DNS rebinding) is connected to the checked address', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const resolve = vi.fn<Resolve>(async () =>
      (answers.shift() ?? ['127.0.0.1']).map((address) => ({ address, family: 4 })),
    );
    serve((request, response) => void response.end(`for ${request.headers.host}`));
    const url = `http://rebind.example:${outsidePort}/`;
    expect(await fetched({ url }, { resolve })).toMatchObject({
      isError: false,
      result: { status: 200, body: `for rebind.example:${outsidePort}` },
    });
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(await fetched({ url }, { resolve })).toEqual(refusedWith('address_forbidden'));
  });

  test('one without an answer is given up', async () => {
    const resolve: Resolve = () => new Promise(() => undefined);
    expect(await fetched({ url: 'http://slow.example/' }, { resolve, limits: { timeoutMs: 50 } })).toEqual(
      refusedWith('timed_out'),
    );
  });
});

describe('redirects', () => {
  const to = (location: string, status = 302): string =>
    serve((request, response) => {
      if (request.url === '/there') response.end(JSON.stringify({ method: request.method, ...request.headers }));
      else response.writeHead(status, { location }).end('moved');
    });

  test.each<[string, () => string, string]>([
    ['to loopback', () => `http://127.0.0.1:${insidePort}/`, 'address_forbidden'],
    ['to loopback without a scheme', () => `//127.0.0.1:${insidePort}/`, 'address_forbidden'],
    ['to loopback in octal', () => `http://0177.1:${insidePort}/`, 'address_forbidden'],
    ['to loopback over IPv6', () => `http://[::ffff:127.0.0.1]:${insidePort}/`, 'address_forbidden'],
    ['to metadata', () => 'http://169.254.169.254/latest/meta-data/', 'address_forbidden'],
    ['to a name that leads inside', () => `http://inside.example:${insidePort}/`, 'address_forbidden'],
    ['to a file', () => 'file:///etc/passwd', 'unsupported_scheme'],
    ['to another protocol', () => 'gopher://127.0.0.1/', 'unsupported_scheme'],
    ['with a user in it', () => `http://me:pw@${PUBLIC}/`, 'invalid_url'],
    ['to nowhere', () => 'http://[', 'invalid_url'],
    ['to itself', () => '/', 'too_many_redirects'],
  ])('%s', async (_, location, code) => {
    const url = to(location());
    const resolve = named({ 'inside.example': ['127.0.0.1'] });
    expect(await fetched({ url }, { resolve })).toEqual(refusedWith(code));
  });

  test('to another origin take no credentials along', async () => {
    const url = to(`http://other.example:${outsidePort}/there`, 307);
    const resolve = named({ 'other.example': [PUBLIC] });
    const headers = { Authorization: 'Bearer s', Cookie: 's=1', 'X-Api-Key': 's', Accept: 'text/plain' };
    const { result } = await fetched({ url, method: 'POST', headers, body: 'b' }, { resolve });
    const seen: unknown = JSON.parse((result as { body: string }).body);
    expect(seen).toMatchObject({ method: 'POST', accept: 'text/plain', 'content-length': '1' });
    expect(JSON.stringify(seen)).not.toMatch(/authorization|cookie|api-key|Bearer/i);
  });

  test.each<[number, string, string]>([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
  ])('%i of a %s is a %s', async (status, method, then) => {
    const methods: (string | undefined)[] = [];
    const url = serve((request, response) => {
      methods.push(request.method);
      if (request.url === '/') response.writeHead(status, { location: '/there' });
      response.end();
    });
    expect((await fetched({ url, method, headers: { authorization: 'a' } })).isError).toBe(false);
    expect(methods).toEqual([method, then]);
  });
});

describe('a request', () => {
  test.each<[string, Json, string]>([
    ['a file', { url: 'file:///etc/passwd' }, 'unsupported_scheme'],
    ['data', { url: 'data:text/plain,x' }, 'unsupported_scheme'],
    ['FTP', { url: 'ftp://127.0.0.1/' }, 'unsupported_scheme'],
    ['no URL', { url: '/etc/passwd' }, 'invalid_url'],
    ['a user', { url: 'http://a:b@example.com/' }, 'invalid_url'],
    ['a zone', { url: 'http://[fe80::1%25eth0]/' }, 'invalid_url'],
    ['another host', { url: 'http://e.example/', headers: { Host: 'localhost' } }, 'invalid_header'],
    ['a length', { url: 'http://e.example/', headers: { 'Content-Length': '5' } }, 'invalid_header'],
    ['chunks', { url: 'http://e.example/', headers: { 'transfer-encoding': 'chunked' } }, 'invalid_header'],
    ['a proxy', { url: 'http://e.example/', headers: { 'Proxy-Authorization': 'x' } }, 'invalid_header'],
    ['a second line', { url: 'http://e.example/', headers: { a: 'b\r\nHost: localhost' } }, 'invalid_header'],
    ['a name of two lines', { url: 'http://e.example/', headers: { 'a\r\nb': 'c' } }, 'invalid_header'],
    ['a tunnel', { url: 'http://e.example/', method: 'CONNECT' }, 'invalid_input'],
    ['more than there is', { url: 'http://e.example/', proxy: 'http://127.0.0.1' }, 'invalid_input'],
    ['nothing', {}, 'invalid_input'],
    ['no JSON', '{"url": ', 'invalid_input'],
  ])('%s', async (_, input, code) => {
    expect(await fetched(input)).toEqual(refusedWith(code));
  });

  test('the message about an invalid header names the header', async () => {
    const { result } = await fetched({ url: 'http://e.example/', headers: { 'x-note': 'b\r\nc' } });
    expect(JSON.stringify(result)).toContain('The name or value of the header \\"x-note\\" contains');
  });

  test('no proxy of the environment is used', async () => {
    const proxy = `http://127.0.0.1:${insidePort}`;
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])
      vi.stubEnv(name, name === 'NODE_USE_ENV_PROXY' ? '1' : proxy);
    const url = serve((_, response) => void response.end('direct'));
    expect(await fetched({ url })).toMatchObject({ result: { body: 'direct' } });
  });
});

test('a refusal quotes the URL, and the number of encodings', async () => {
  const at = await fetched({ url: 'http://[' });
  expect(at).toMatchObject({ result: { error: { message: 'The URL "http://[" is invalid.' } } });
  const url = serve((_, response) => void response.writeHead(200, { 'content-encoding': 'br, br, br' }).end('x'));
  const message = 'The body has more than 2 nested content encodings.';
  expect(await fetched({ url })).toMatchObject({ result: { error: { message } } });
});

describe('bodies', () => {
  const sends = (headers: Record<string, string>, body: Buffer | string): string =>
    serve((_, response) => void response.writeHead(200, headers).end(body));
  const endless = (chunk: Buffer, headers: Record<string, string> = {}): string =>
    serve((_, response) => {
      response.writeHead(200, headers);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
  const bomb = Buffer.alloc(50_000_000);

  test.each<[string, () => string, string]>([
    ['too large, as it says', () => sends({ 'content-length': '200000' }, Buffer.alloc(200_000)), 'body_too_large'],
    ['too large, without saying', () => endlessly(), 'body_too_large'],
    ['a gzip bomb', () => sends({ 'content-encoding': 'gzip' }, gzipSync(bomb)), 'body_too_large'],
    ['a brotli bomb', () => sends({ 'content-encoding': 'br' }, brotliCompressSync(bomb)), 'body_too_large'],
    [
      'a bomb within a bomb',
      () => sends({ 'content-encoding': 'gzip, gzip' }, gzipSync(gzipSync(bomb))),
      'body_too_large',
    ],
    [
      'packed three times',
      () => sends({ 'content-encoding': 'gzip, gzip, gzip' }, gzipSync(gzipSync(gzipSync('x')))),
      'invalid_response',
    ],
    ['packed unheard-of', () => sends({ 'content-encoding': 'rar' }, 'x'), 'invalid_response'],
    ['not packed at all', () => sends({ 'content-encoding': 'gzip' }, 'plain'), 'invalid_response'],
    ['endlessly packing nothing', () => endless(gzipSync(''), { 'content-encoding': 'gzip' }), 'body_too_large'],
    [
      'shorter than it says',
      () =>
        serve((_, response) => {
          response.writeHead(200, { 'content-length': '50' });
          response.write('x');
          setImmediate(() => response.destroy());
        }),
      'invalid_response',
    ],
    ['silent', () => serve((_, response) => response.flushHeaders()), 'timed_out'],
    [
      'slow without end',
      () =>
        serve((_, response) => {
          const drip = setInterval(() => response.write('x'), 20);
          response.on('close', () => clearInterval(drip));
        }),
      'timed_out',
    ],
  ])('%s', async (_, url, code) => {
    expect(await fetched({ url: url() }, { limits: code === 'timed_out' ? { timeoutMs: 700 } : {} })).toEqual(
      refusedWith(code),
    );
  });
  const endlessly = (): string => endless(Buffer.alloc(10_000, 'x'));

  test('a server that does not speak HTTP, or hangs up, is reported as such', async () => {
    const server = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'));
    await new Promise<void>((resolve) => void server.listen(0, PUBLIC, resolve));
    const { port } = server.address() as AddressInfo;
    expect(await fetched({ url: `http://${PUBLIC}:${port}/` })).toEqual(refusedWith('invalid_response'));
    server.close();
    expect(await fetched({ url: `http://${PUBLIC}:${port}/` })).toEqual(refusedWith('connection_failed'));
  });

  test.each<[string, Record<string, string>, Buffer | string, string, boolean]>([
    ['text', { 'content-type': 'text/plain' }, 'grüße', 'grüße', false],
    ['another charset', { 'content-type': 'text/plain; charset=latin1' }, Buffer.from([0xfc]), 'ü', false],
    ['packed', { 'content-encoding': 'gzip' }, gzipSync('hello'), 'hello', false],
    ['longer than is shown', {}, 'x'.repeat(1_500), 'x'.repeat(1_000), true],
    ['cut within a character', {}, `${'x'.repeat(999)}ü`, 'x'.repeat(999), true],
    [
      'binary',
      { 'content-type': 'image/png' },
      Buffer.from([0x89, 0, 0xff]),
      '[Binary body, 3 bytes of image/png: not shown.]',
      false,
    ],
  ])('%s', async (_, headers, body, text, truncated) => {
    expect(await fetched({ url: sends(headers, body) })).toEqual({
      isError: false,
      result: { status: 200, headers: expect.objectContaining(headers), body: text, truncated },
    });
  });
});

test("the operator's allowed hosts are reachable, and no others", async () => {
  serve((_, response) => void response.end('intranet'));
  const resolve = named({ 'wiki.intranet': [PUBLIC], 'other.intranet': [PUBLIC] });
  const limits = { allow: ['Wiki.Intranet'] };
  expect(await fetched({ url: `http://wiki.intranet:${outsidePort}/` }, { resolve, limits })).toMatchObject({
    result: { body: 'intranet' },
  });
  expect(await fetched({ url: `http://other.intranet:${outsidePort}/` }, { resolve, limits })).toEqual(
    refusedWith('address_forbidden'),
  );
});

const CALL = {
  name: 'http_fetch',
  tool_call_id: 't',
  job_id: 'j',
  worker: { id: 'w', name: 'w', role: null },
  attempt: 1,
  worker_id: 'w',
  context_id: 'c',
  tenant: 't',
  metadata: {},
  user: null,
};

test('a request with an effect needs approval first', () => {
  const { approval } = httpFetch({ limits: LIMITS, resultChars: 1_000 });
  const asks = (input: unknown) => (typeof approval === 'function' ? approval({ ...CALL, input }) : approval);
  expect(asks({ url: 'u' })).toBe('never');
  expect(asks({ url: 'u', method: 'HEAD' })).toBe('never');
  expect(asks({ url: 'u', method: 'POST' })).toBe('always');
  expect(asks({ url: 'u', method: 'DELETE' })).toBe('always');
});
