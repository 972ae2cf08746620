// The spans of requests, and what is sent over OTLP beside them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type Api } from '../harness.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const ACME = { authorization: 'Bearer key-of-acme' };

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'key-of-acme:acme', NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY });
});
afterAll(() => api.close());

test('a request of the operator belongs to no tenant, and one that access control refuses has no span', async () => {
  expect((await api.post('/api/contexts', {}, { authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await api.post('/api/contexts', {}, ACME)).status).toBe(201);
  expect((await api.post('/api/tenants', { name: 'more' }, OPERATOR)).status).toBe(201);
  const spans = api.spans.map(({ name, attributes }) => [name, attributes['nightshift.tenant']]);
  expect(spans).toEqual([
    ['POST /api/contexts', 'acme'],
    ['POST /api/tenants', undefined],
  ]);
});

test('metrics that are sent leave the figures of the event loop to scrapes', async () => {
  const sent = (await api.sentFigures()).map(({ name }) => name);
  expect(sent).toContain('nightshift_http_request_seconds');
  expect(sent.filter((name) => name.startsWith('nodejs_'))).toEqual([]);
  expect((await api.get('/metrics', OPERATOR)).body).toContain('nodejs_eventloop_lag_p99_seconds');
});
