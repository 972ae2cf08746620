// Compressed responses: to whom they are sent, and which responses never are.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let worker: Body;
/** Lists of messages: a small one, one that the API compresses at once, and one that it compresses in a thread. */
const lists = { small: '', medium: '', large: '' };
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme' });
  worker = (await api.post('/api/workers', { name: 'w' }, OURS)).body;
  lists.small = await listOf('a short text');
  lists.medium = await listOf('words, and more words, ✓ '.repeat(1_000));
  lists.large = await listOf('words, and more words, ✓ '.repeat(10_000));
});
afterAll(() => api.close());

const OURS = { authorization: 'Bearer ours' };

async function listOf(content: string): Promise<string> {
  const context = (await api.post('/api/contexts', {}, OURS)).body.id;
  await api.post(`/api/contexts/${context}/messages`, { content }, OURS);
  return `/api/contexts/${context}/messages`;
}

const send = (method: 'GET' | 'HEAD', url: string, accepted?: string) =>
  api.app.inject({
    method,
    url,
    headers: { host: 'localhost', ...OURS, ...(accepted === undefined ? {} : { 'accept-encoding': accepted }) },
  });

const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync };

test.each([
  ['medium', 'gzip, deflate, br', 'br'],
  ['medium', 'gzip', 'gzip'],
  ['medium', 'GZIP;q=0.5', 'gzip'],
  ['medium', 'br;q=0.1, gzip;q=0.9', 'gzip'],
  ['large', 'gzip, deflate, br', 'br'],
  ['large', 'gzip', 'gzip'],
] as const)('a %s list is sent to a client that accepts %s as %s', async (size, accepted, encoding) => {
  const plain = await send('GET', lists[size]);
  const { statusCode, headers, rawPayload } = await send('GET', lists[size], accepted);
  expect([statusCode, headers['content-encoding'], headers.vary]).toEqual([200, encoding, 'accept-encoding']);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['content-length']).toBe(String(rawPayload.length));
  expect(UNPACK[encoding](rawPayload)).toEqual(plain.rawPayload);
  expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 10);
});

test.each([undefined, '', 'identity', 'zstd', 'br;q=0, gzip;q=0'])(
  'a list is sent as it is to a client that accepts %j',
  async (accepted) => {
    const { headers, body } = await send('GET', lists.medium, accepted);
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'accept-encoding']);
    expect(JSON.parse(body).data).toHaveLength(1);
  },
);

test('a small response is never compressed', async () => {
  const { headers, body } = await send('GET', lists.small, 'br');
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
  expect(JSON.parse(body).data).toHaveLength(1);
});

test('HEAD has the headers of GET', async () => {
  const full = await send('GET', lists.medium, 'br');
  const head = await send('HEAD', lists.medium, 'br');
  expect([head.statusCode, head.body]).toEqual([200, '']);
  for (const name of ['content-encoding', 'content-length', 'content-type', 'vary'])
    expect([name, head.headers[name]]).toEqual([name, full.headers[name]]);
});

test('a response with an ETag keeps its bytes: the tag names them, and comes back as If-Match', async () => {
  const path = `/api/workers/${worker.id}`;
  await api.call('PATCH', path, { config: { system_prompt: 'Be brief. '.repeat(2_000) } }, OURS);
  const { headers, body } = await send('GET', path, 'br');
  expect(headers['content-encoding']).toBeUndefined();
  const etag = String(headers.etag);
  expect(body.length).toBeGreaterThan(8_192);
  expect((await api.call('PATCH', path, { name: 'x' }, { ...OURS, 'if-match': etag })).status).toBe(200);
});

test('the response to a write is never compressed: it may show a secret', async () => {
  const config = { system_prompt: 'Be brief. '.repeat(2_000) };
  const made = await api.post('/api/workers', { name: 'w', config }, { ...OURS, 'accept-encoding': 'br' });
  expect([made.status, made.headers['content-encoding']]).toEqual([201, undefined]);
});

test('an event stream is never compressed', async () => {
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const stop = new AbortController();
  const events = `${url}/api/contexts/${worker.context_id}/events`;
  const answer = await fetch(events, { headers: { ...OURS, 'accept-encoding': 'br, gzip' }, signal: stop.signal });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  expect(answer.headers.get('content-encoding')).toBeNull();
  stop.abort();
});
