// The files of the console: which are served, to whom, and how long they are cached.
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi, type Api } from '../harness.ts';

const PAGE = '<!doctype html><title>Console 1</title>';
const SCRIPT = 'export const text = "the same again and again";'.repeat(100);
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let folder: string;
let api: Api;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'console-'));
  await mkdir(path.join(folder, 'assets'));
  await mkdir(path.join(folder, 'pages'));
  await writeFile(path.join(folder, 'index.html'), PAGE);
  for (const name of new Set(Object.values(ADDRESSES)))
    await writeFile(path.join(folder, 'pages', `${name}.html`), `${PAGE}${name}`);
  await writeFile(path.join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(path.join(folder, '.secret'), 'x');
  await writeFile(path.join(folder, 'assets', 'main-abc123.js'), 'export {};');
  await writeFile(path.join(folder, 'assets', 'main-abc123.css'), ':root{}');
  await writeFile(path.join(folder, 'assets', 'large-abc123.js'), SCRIPT);
  await writeFile(path.join(folder, 'assets', 'large-abc123.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(path.join(folder, 'assets', 'large-abc123.js.gz'), gzipSync(SCRIPT));
  api = await openWith({});
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

function openWith(env: Record<string, string>): Promise<Api> {
  return openApi(env, undefined, new Map(), async () => null, folder);
}

const get = (url: string, headers: Record<string, string> = {}, from = api) =>
  from.app.inject({ url, headers: { host: 'localhost', ...headers } });

/** With the page that is there. */
const ADDRESSES = {
  '/': 'chat',
  '/contexts/0190a000-0000-7000-8000-000000000000': 'chat',
  '/jobs': 'jobs',
  '/jobs?status=failed': 'jobs',
  '/jobs/0190a000-0000-7000-8000-000000000000': 'job',
  '/workers/0190a000-0000-7000-8000-000000000000/tree': 'tree',
  '/inbox': 'inbox',
  '/schedules': 'schedules',
  '/tenants': 'tenants',
  '/overview': 'overview',
  '/operations': 'operations',
  '/search?q=a%20b': 'search',
  '/access': 'access',
  '/settings': 'settings',
};

describe('the page', () => {
  test.each(Object.entries(ADDRESSES))('at %s is that of %s', async (url, name) => {
    const answer = await get(url, HTML);
    expect([answer.statusCode, answer.body]).toEqual([200, `${PAGE}${name}`]);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'self'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  test('is revalidated each time, and not sent again while it is the same', async () => {
    const first = await get('/', HTML);
    const etag = String(first.headers.etag);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const again = await get('/contexts/x', { ...HTML, 'if-none-match': known });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await get('/', { ...HTML, 'if-none-match': '"x"' })).statusCode).toBe(200);
  });

  test('has another tag when its content differs, though date and size are the same', async () => {
    const file = path.join(folder, 'pages', 'chat.html');
    const date = new Date('1985-10-26T08:15:00Z');
    await utimes(file, date, date);
    const before = (await get('/', HTML)).headers.etag;
    await writeFile(file, PAGE.replace('1', '2'));
    await utimes(file, date, date);
    expect((await get('/', HTML)).headers.etag).not.toBe(before);
    await writeFile(file, PAGE);
  });

  test.each(['/jobs', '/contexts/x', '/inbox'])('is not sent to a program that requests %s for data', async (url) => {
    const answer = await get(url, { accept: 'application/json' });
    expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'not_found']);
  });

  test('is not sent for API addresses', async () => {
    expect((await get('/api/jobs', HTML)).json()).toEqual({ data: [], next_cursor: null });
    expect(JSON.stringify(api.contract.document.paths)).not.toContain('/assets');
  });
});

describe('files', () => {
  test.each([
    ['/assets/main-abc123.js', /^(text|application)\/javascript/],
    ['/assets/main-abc123.css', /^text\/css/],
  ])('%s is cached permanently', async (url, type) => {
    const { statusCode, headers } = await get(url);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toMatch(type);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  test('beside the page exist, and are revalidated', async () => {
    const { statusCode, headers } = await get('/favicon.svg');
    expect([statusCode, headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(headers['cache-control'] ?? '').not.toContain('immutable');
  });

  test.each([
    '/assets/nothing-1.js',
    '/assets/',
    '/assets/..%2findex.html',
    '/assets/%2e%2e%2f.secret',
    '/assets/..%5c.secret',
    '/assets/%00',
    '/assets/%',
  ])('others do not exist: %s', async (url) => {
    const answer = await get(url, HTML);
    expect([400, 403, 404]).toContain(answer.statusCode);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('of a new build are there without a restart', async () => {
    await writeFile(path.join(folder, 'assets', 'main-def456.js'), 'export {};');
    expect((await get('/assets/main-def456.js')).statusCode).toBe(200);
  });
});

describe('compressed files', () => {
  const LARGE = '/assets/large-abc123.js';
  const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync };

  test.each([
    ['br', 'gzip, deflate, br, zstd'],
    ['br', 'br;q=0.5, gzip;q=0.5'],
    ['gzip', 'gzip, deflate'],
    ['gzip', 'gzip;q=1.0, br;q=0.1'],
  ] as const)('are sent as %s to a client that accepts %s', async (encoding, accepted) => {
    const { headers, rawPayload } = await get(LARGE, { 'accept-encoding': accepted });
    expect(UNPACK[encoding](rawPayload).toString()).toBe(SCRIPT);
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      'content-length': String(rawPayload.length),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-type']).toMatch(/^(text|application)\/javascript/);
  });

  test.each(['identity', 'br;q=0, gzip;q=0', 'zstd'])('are not sent to a client that accepts %s', async (accepted) => {
    const { headers, body } = await get(LARGE, { 'accept-encoding': accepted });
    expect([headers['content-encoding'], headers.vary, body]).toEqual([undefined, 'accept-encoding', SCRIPT]);
  });

  test('are not needed: a file without them is sent as it is', async () => {
    const { statusCode, headers, body } = await get('/assets/main-abc123.js', { 'accept-encoding': 'br, gzip' });
    expect([statusCode, headers['content-encoding'], body]).toEqual([200, undefined, 'export {};']);
  });

  test('have tags of their own, and are not sent again while they are the same', async () => {
    const tags = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (accepted) => {
        const first = await get(LARGE, { 'accept-encoding': accepted });
        const etag = String(first.headers.etag);
        const again = await get(LARGE, { 'accept-encoding': accepted, 'if-none-match': etag });
        expect([again.statusCode, again.body, again.headers.vary]).toEqual([304, '', 'accept-encoding']);
        return etag;
      }),
    );
    expect(new Set(tags).size).toBe(3);
  });

  test('answer HEAD as they answer GET, without the content', async () => {
    const full = await get(LARGE, { 'accept-encoding': 'br' });
    const { statusCode, headers, body } = await api.app.inject({
      method: 'HEAD',
      url: LARGE,
      headers: { host: 'localhost', 'accept-encoding': 'br' },
    });
    expect([statusCode, body]).toEqual([200, '']);
    for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
      expect([name, headers[name]]).toEqual([name, full.headers[name]]);
  });
});

describe('an address that does not exist', () => {
  test.each(['/nothing', '/jobs.js', '/inbox/x', '/.secret', '/assets', '/contexts', '/a/b?c=d'])(
    'is answered by the page for people, with status 404: %s',
    async (url) => {
      const answer = await get(url, HTML);
      expect([answer.statusCode, answer.body]).toEqual([404, PAGE]);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(String(answer.headers['content-security-policy'])).toContain("default-src 'self'");
    },
  );

  test.each([
    ['/nothing', { accept: 'application/json' }],
    ['/nothing', {}],
    ['/api/nothing', HTML],
    ['/metrics/nothing', HTML],
  ])('and by a problem for programs, and below the API: %s %j', async (url, headers) => {
    const answer = await get(url, headers);
    expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'not_found']);
  });

  test('is no page for requests that write', async () => {
    const answer = await api.app.inject({
      method: 'POST',
      url: '/nothing',
      headers: { host: 'localhost', ...HTML },
    });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });
});

describe('access', () => {
  test('needs no key for files, but for data', async () => {
    const keyed = await openWith({ NIGHTSHIFT_API_KEYS: 'ours:acme' });
    for (const url of ['/', '/jobs', '/assets/main-abc123.js', '/favicon.svg']) {
      const site = { 'sec-fetch-site': 'cross-site', host: 'console.example' };
      expect((await get(url, { ...HTML, ...site }, keyed)).statusCode).toBe(200);
    }
    for (const url of ['/api/jobs', '/api/nothing', '/docs']) {
      expect((await get(url, HTML, keyed)).statusCode).toBe(401);
    }
    expect((await get('/nothing', {}, keyed)).statusCode).toBe(401);
    expect((await get('/nothing', HTML, keyed)).statusCode).toBe(404);
    await keyed.close();
  });

  test.each(['/', '/jobs', '/assets/main-abc123.js', '/favicon.svg'])(
    'without keys checks the Host for %s, too',
    async (url) => {
      expect((await get(url, { ...HTML, host: 'evil.example' })).statusCode).toBe(403);
    },
  );
});

test('a missing build is reported with the command to build it', async () => {
  const bare = await openApi();
  for (const url of ['/', '/jobs', '/nothing']) {
    const answer = await get(url, HTML, bare);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(answer.body).toContain('npm run build');
  }
  expect((await get('/assets/x.js', {}, bare)).statusCode).toBe(404);
  await bare.close();
});
