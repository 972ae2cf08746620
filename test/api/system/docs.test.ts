// The reference page: everything it needs comes from this server, and it may contact no other.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const fetch = (url: string, headers: Record<string, string> = {}) =>
  api.app.inject({ url, headers: { host: 'localhost', ...headers } });

test.each(['%00', 'a%5cb', '..%2f..%2fpackage.json', 'a'.repeat(5_000)])('the file %s is not there', async (name) => {
  const { statusCode, headers } = await fetch(`/docs/static/${name}`);
  expect(statusCode).toBe(404);
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
});

/** What the page loads, as a browser finds it from `url`. */
async function loadedBy(url: string): Promise<string[]> {
  const { body } = await fetch(url);
  return [...body.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(
    ([, name = '']) => new URL(name, `http://localhost${url}`).href,
  );
}

test.each(['/docs', '/docs/'])('the page at %s loads its assets from this server, each of them exists', async (url) => {
  const page = await fetch(url);
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  const assets = await loadedBy(url);
  expect(assets.length).toBeGreaterThanOrEqual(5);
  for (const asset of assets) {
    expect(asset).toMatch(/^http:\/\/localhost\/docs\/static\//);
    const answer = await fetch(new URL(asset).pathname);
    expect(`${asset} ${answer.statusCode}`).toBe(`${asset} 200`);
    expect(answer.rawPayload.length).toBeGreaterThan(100);
  }
  expect(page.body).not.toMatch(/<script>|<style|\son\w+=|style="/);
});

test('the page shows the document that clients read', async () => {
  const script = await fetch('/docs/static/start.js');
  expect(script.headers['content-type']).toMatch(/^text\/javascript/);
  expect(script.body).toContain("'/json'");
  expect(script.body).toMatch(/validatorUrl: null/);
  const shown = await fetch('/docs/json');
  expect(shown.json()).toEqual((await fetch('/api/openapi.json')).json());
});

test('its files are served as HTTP asks for them', async () => {
  const url = '/docs/static/swagger-ui.css';
  const { headers, rawPayload } = await fetch(url);
  const head = await api.app.inject({ method: 'HEAD', url, headers: { host: 'localhost' } });
  expect([head.statusCode, head.headers['content-length'], head.rawPayload.length]).toEqual([
    200,
    String(rawPayload.length),
    0,
  ]);
  const again = await fetch(url, { 'if-none-match': String(headers.etag) });
  expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
  const compressed = await fetch('/docs/json', { 'accept-encoding': 'gzip' });
  expect(compressed.headers['content-encoding']).toBe('gzip');
});

test('its policy lets a browser contact no other server', async () => {
  for (const url of ['/docs', '/docs/static/swagger-ui-bundle.js', '/docs/static/index.css']) {
    const { headers } = await fetch(url);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
  expect((await fetch('/api/openapi.json')).headers['content-security-policy']).toBeUndefined();
});

test.each(['/docs/static/nothing.js', '/docs/static/%2e%2e/package.json', '/docs/static/..%2f..%2fpackage.json'])(
  'other files do not exist: %s',
  async (url) => {
    const answer = await fetch(url);
    expect([403, 404]).toContain(answer.statusCode);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  },
);

test('it is cached like other pages', async () => {
  for (const url of ['/docs', '/docs/json', '/docs/static/swagger-ui.css']) {
    expect((await fetch(url, { host: 'evil.example' })).statusCode).toBe(403);
  }
  const keyed = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme' });
  for (const url of ['/docs', '/docs/json', '/docs/static/swagger-ui.css']) {
    const ask = (headers: Record<string, string>) => keyed.app.inject({ url, headers });
    expect((await ask({})).statusCode).toBe(401);
    expect((await ask({ authorization: 'Bearer ours' })).statusCode).toBe(200);
  }
  await keyed.close();
});
