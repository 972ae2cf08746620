// Idempotency-Key: the same key and body give the same answer and one effect; another body is refused.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addProcess } from '../manual-worker.ts';
import { openApi, type Api, type Answer, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '20' });
  await addProcess(api);
});
afterAll(() => api.close());

let number = 0;
const newKey = (): Record<string, string> => ({ 'idempotency-key': `key ${(number += 1)}` });

type Write = { method: string; path: (worker: Body, job: string) => string; body?: object; other?: object };

/** Every route that writes. `other`: a different body. */
const WRITES: Write[] = [
  { method: 'POST', path: () => '/api/workers', body: { name: 'a' }, other: { name: 'b' } },
  {
    method: 'POST',
    path: () => '/api/workers',
    body: { name: 'a', input: { content: 'a', metadata: { x: 1, y: 2 } } },
    other: { name: 'a', input: { content: 'b', metadata: { x: 1, y: 2 } } },
  },
  { method: 'POST', path: () => '/api/contexts', body: { title: 'a' }, other: { title: 'b' } },
  {
    method: 'PATCH',
    path: ({ id }) => `/api/workers/${id}`,
    body: { config: { max_steps: 5 } },
    other: { config: { max_steps: 6 } },
  },
  {
    method: 'PATCH',
    path: ({ context_id }) => `/api/contexts/${context_id}`,
    body: { title: 'a' },
    other: { title: 'b' },
  },
  {
    method: 'PUT',
    path: ({ context_id }) => `/api/contexts/${context_id}`,
    body: { config: {} },
    other: { config: { max_steps: 1 } },
  },
  {
    method: 'POST',
    path: ({ id }) => `/api/workers/${id}/messages`,
    body: { content: 'a', metadata: { x: 1, y: [{ b: 1, a: 2 }] } },
    other: { content: 'b', metadata: { x: 1, y: [{ b: 1, a: 2 }] } },
  },
  {
    method: 'POST',
    path: ({ context_id }) => `/api/contexts/${context_id}/messages`,
    body: { content: 'a' },
    other: { content: 'a', max_steps: 2 },
  },
  {
    method: 'POST',
    path: ({ context_id }) => `/api/contexts/${context_id}/jobs`,
    body: {},
    other: { max_steps: 2 },
  },
  { method: 'POST', path: () => '/api/chat', body: { message: 'a' }, other: { message: 'b' } },
  { method: 'POST', path: ({ id }) => `/api/workers/${id}/stop` },
  { method: 'POST', path: ({ id }) => `/api/workers/${id}/start` },
  { method: 'POST', path: (_, job) => `/api/jobs/${job}/cancel`, body: {}, other: { reason: 'other' } },
  { method: 'DELETE', path: ({ id }) => `/api/workers/${id}` },
  { method: 'DELETE', path: ({ context_id }) => `/api/contexts/${context_id}` },
];

const ofRow = ({ method, path }: Write): string => `${method} ${path({ id: ':id', context_id: ':id' }, ':id')}`;
const rows = WRITES.map((row) => [ofRow(row), row] as const);

async function target(): Promise<{ worker: Body; job: string }> {
  const worker = await api.worker();
  const { body } = await api.post(`/api/workers/${worker.id}/messages`, { content: 'before' });
  return { worker, job: body.job_id };
}

describe.each(rows)('%s', (_, { method, path, body, other }) => {
  test('is answered the same again, and executed once', async () => {
    const { worker, job } = await target();
    const at = path(worker, job);
    const headers = newKey();
    const first = await api.call(method, at, body, headers);
    expect(first.status).toBeLessThan(300);
    const again = await api.call(method, at, reversed(body), headers);
    expect(again.status).toBe(first.status);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
    expect(again.headers['etag']).toBe(first.headers['etag']);
    expect(again.headers['location']).toBe(first.headers['location']);
    if (method === 'PATCH' || method === 'PUT') expect(first.headers['etag']).toBe('"2"');
  });

  test('is executed once by equal requests at the same time', async () => {
    const { worker, job } = await target();
    const at = path(worker, job);
    const headers = newKey();
    const answers = await Promise.all([1, 2, 3, 4].map(() => api.call(method, at, body, headers)));
    const [first] = answers;
    for (const answer of answers) {
      expect(answer.status).toBe(first?.status);
      expect(answer.body).toEqual(first?.body);
    }
  });

  test.runIf(other !== undefined)('is refused with another body', async () => {
    const { worker, job } = await target();
    const at = path(worker, job);
    const headers = newKey();
    await api.call(method, at, body, headers);
    const refused = await api.call(method, at, other, headers);
    expect(refused.status).toBe(422);
    expect(refused.body.error.code).toBe('idempotency_conflict');
  });
});

describe('a key', () => {
  test('belongs to one request: on another path it is refused', async () => {
    const [one, two] = [await api.worker(), await api.worker()];
    const headers = newKey();
    const body = { content: 'x' };
    await api.post(`/api/workers/${one.id}/messages`, body, headers);
    const refused = await api.post(`/api/workers/${two.id}/messages`, body, headers);
    expect(refused.body.error.code).toBe('idempotency_conflict');
  });

  test('of a refused request is free again', async () => {
    const worker = await api.worker();
    const headers = newKey();
    const path = `/api/workers/${worker.id}/messages`;
    await api.post(`/api/workers/${worker.id}/stop`);
    expect((await api.post(path, { content: 'x' }, headers)).status).toBe(409);
    await api.post(`/api/workers/${worker.id}/start`);
    expect((await api.post(path, { content: 'x' }, headers)).status).toBe(202);
  });

  test('keeps a lost race from posting twice', async () => {
    const worker = await api.worker();
    const headers = newKey();
    const path = `/api/contexts/${worker.context_id}/messages`;
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 12 }, () => api.post(path, { content: 'only once' }, headers)),
    );
    expect(new Set(answers.map((answer) => answer.body.job_id)).size).toBe(1);
    expect((await api.get(path)).body.data).toHaveLength(1);
  });

  test('of a deletion is stored with it: an equal request finds the worker, or the response', async () => {
    const { id } = await api.worker();
    const headers = newKey();
    const erase = () => api.call('DELETE', `/api/workers/${id}`, undefined, headers);
    // The second insert of a key is the one that stores the response of the first request.
    await api.database.db.execute(sql`create sequence inserts`);
    await api.database.db.execute(sql`create function hold() returns trigger language plpgsql as
      'begin if nextval(''inserts'') = 2 then perform pg_sleep(0.5); end if; return new; end'`);
    await api.database.db.execute(sql`create trigger hold before insert on idempotency_keys
      for each row execute function hold()`);
    try {
      const first = erase();
      const inserts = () => api.database.db.execute(sql`select last_value from inserts`);
      await expect.poll(inserts, { interval: 10 }).toEqual([{ last_value: 2 }]);
      expect((await erase()).status).toBe(204);
      expect((await first).status).toBe(204);
      expect((await erase()).status).toBe(204);
    } finally {
      await api.database.db.execute(sql`drop function hold cascade`);
      await api.database.db.execute(sql`drop sequence inserts`);
    }
  });

  test.each(['', 'x'.repeat(256)])('must have 1 to 255 characters', async (key) => {
    const { status, body } = await api.post('/api/workers', { name: 'w' }, { 'idempotency-key': key });
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'invalid_request', param: 'idempotency-key' });
  });
});

/** The same body, its members the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
