// Without Postgres, requests are answered with 503 within a bound, and the process recovers by itself.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { startOwnPostgres } from '../../services/own-postgres.ts';
import type { OwnService } from '../../services/own-service.ts';
import { openApi, type Api, type Answer, type Body } from '../harness.ts';

const REQUEST_MS = 1_500;

let postgres: OwnService;
let api: Api;
let worker: Body;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  await migrate(postgres.url);
  api = await openApi({ NIGHTSHIFT_REQUEST_MS: String(REQUEST_MS) }, postgres.url);
  worker = await api.worker();
});
afterAll(async () => {
  await api.app.close();
  await api.database.close(0);
  await postgres.remove();
});

/** Extra time for a slow machine. No caller gives up a silent server for so long. */
const SLOW_MS = 15_000;

async function timed(request: () => Promise<Answer>): Promise<Answer> {
  const began = performance.now();
  const answer = await request();
  expect(performance.now() - began).toBeLessThan(REQUEST_MS + SLOW_MS);
  return answer;
}

function expectUnavailable({ status, headers, body }: Answer): void {
  expect(status).toBe(503);
  expect(headers['retry-after']).toBe('1');
  expect(body.error).toMatchObject({ code: 'unavailable', type: 'overloaded_error' });
}

const requests = (): (() => Promise<Answer>)[] => [
  () => api.get(`/api/workers/${worker.id}`),
  () => api.get('/api/jobs'),
  () => api.get(`/api/contexts/${worker.context_id}/state`),
  () => api.post('/api/workers', { name: 'w' }),
  () => api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'x' }),
  () => api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'x' }, { 'idempotency-key': 'a' }),
  () => api.call('DELETE', `/api/workers/${worker.id}`),
  () => api.get('/api/stats'),
  () => api.get('/readyz'),
];

/** Until the pool has recovered. */
async function untilServed(ask = () => api.get(`/api/workers/${worker.id}`)): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if ((await ask()).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('It did not recover.');
}

describe.each(['stop', 'kill'] as const)('after a %s of Postgres', (verb) => {
  test('every request is answered with 503 in time, the probes and metrics too', async () => {
    await postgres[verb]();
    for (const answer of await Promise.all(requests().map((request) => timed(request)))) expectUnavailable(answer);
    const { status, body } = await api.get('/metrics');
    expect(status).toBe(200);
    expect(body).toContain('nightshift_database_up 0\n');
    expect((await api.get('/healthz')).status).toBe(200);
  });

  test('every request works again once it is back, and the log has the reason of the failure', async () => {
    await postgres.start();
    await untilServed();
    const posted = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'after' });
    expect(posted.status).toBe(202);
    expect((await api.get('/readyz')).body.status).toBe('ok');
    expect(api.lines.some((line) => line['msg'] === 'request could not be served')).toBe(true);
    expect(api.lines.some((line) => line['msg'] === 'request failed with an unexpected error')).toBe(false);
  });
});

test('an API with keys that starts without Postgres serves its tenants once it is back', async () => {
  await postgres.stop();
  const early = await openApi(
    { NIGHTSHIFT_REQUEST_MS: String(REQUEST_MS), NIGHTSHIFT_API_KEYS: 'a-key:acme' },
    postgres.url,
  );
  onTestFinished(async () => void (await Promise.all([early.app.close(), early.database.close(0)])));
  const ask = () => early.get('/api/jobs', { authorization: 'Bearer a-key' });
  expectUnavailable(await timed(ask));
  await postgres.start();
  await untilServed();
  await untilServed(ask);
});

test('a silent Postgres is answered with 503, a long poll too', async () => {
  const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'x' });
  await postgres.pause();
  try {
    expectUnavailable(await timed(() => api.get(`/api/workers/${worker.id}`)));
    expectUnavailable(await timed(() => api.get(`/api/jobs/${body.job_id}?wait_ms=100`)));
  } finally {
    await postgres.resume();
  }
  await untilServed();
});

test('a write that was given up is not executed when Postgres is back: the client may have done something else by then', async () => {
  const { context_id: context } = await api.worker();
  const path = `/api/contexts/${context}/messages`;
  const repeated = (): Promise<Answer> =>
    api.post(path, { content: 'x', delivery: 'reject' }, { 'idempotency-key': 'given-up' });
  await postgres.pause();
  try {
    expectUnavailable(await timed(repeated));
  } finally {
    await postgres.resume();
  }
  await untilServed();
  const other = await api.post(path, { content: 'y' });
  expect((await repeated()).body.error?.code).toBe('context_busy');
  const { body } = await api.get(`/api/jobs?context_id=${context}`);
  expect(body.data.map(({ id }: Body) => id)).toEqual([other.body.job_id]);
});
