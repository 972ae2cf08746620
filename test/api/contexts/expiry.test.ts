// When a context expires, what is archived, and how it comes back, as clients see it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/core/workers/settings.ts';
import { archiveIdle } from '../../../src/db/write/contexts/expiry.ts';
import { addProcess, converse } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

const ROLES = new Map<string, Role>([
  ['brief', { idle_timeout_s: 6_000 }],
  ['plain', {}],
]);

let api: Api;
beforeAll(async () => {
  api = await openApi({}, undefined, ROLES);
});
afterAll(() => api.close());

const seconds = (context: Body): number => (Date.parse(context.expires_at) - Date.parse(context.updated_at)) / 1_000;

const read = async (id: string): Promise<Body> => (await api.get(`/api/contexts/${id}`)).body;

const ids = async (path: string): Promise<string[]> => (await api.get(path)).body.data.map((one: Body) => one.id);

/** Of all contexts here it alone is due: timeouts are longer than tests may take. */
async function archive(id: string): Promise<void> {
  const { db } = api.database;
  await db.execute(`update contexts set state_since = state_since - interval '1 day' where id = '${id}'`);
  await db.execute(`update workers set updated_at = updated_at - interval '1 day', expires_at = clock_timestamp() - interval '1 second'
    where context_id = '${id}'`);
  expect(await archiveIdle(db, {}, 10)).toMatchObject({ archived: 1 });
}

test('a context expires after its timeout, counted from its last activity', async () => {
  const { body } = await api.post('/api/contexts', { config: { idle_timeout_s: 9_000 } });
  expect(body.archived_at).toBeNull();
  expect(seconds(body)).toBe(9_000);
  const owner = await addProcess(api, { roles: ['brief', 'plain'] });
  await converse(api, body.id, owner, 'hello', 'hi');
  const later = await read(body.id);
  expect(seconds(later)).toBe(9_000);
  expect(Date.parse(later.expires_at)).toBeGreaterThan(Date.parse(body.expires_at));
  const patched = await api.call('PATCH', `/api/contexts/${body.id}`, { config: { idle_timeout_s: 3_000 } });
  expect(seconds(patched.body)).toBe(3_000);
  const off = await api.call('PATCH', `/api/contexts/${body.id}`, { config: { idle_timeout_s: null } });
  expect(off.body.expires_at).toBeNull();
});

test('without a timeout it never expires', async () => {
  const { body } = await api.post('/api/contexts', {});
  expect(body).toMatchObject({ expires_at: null, archived_at: null });
});

test('the timeout comes from the role: of the file, or of the API', async () => {
  await api.call('PUT', '/api/roles/guest', { idle_timeout_s: 4_500 });
  const made = async (role: string, config = {}): Promise<Body> =>
    (await api.post('/api/contexts', { role, config })).body;
  expect(seconds(await made('brief'))).toBe(6_000);
  expect(seconds(await made('guest'))).toBe(4_500);
  expect(seconds(await made('guest', { idle_timeout_s: 700 }))).toBe(700);
  expect((await made('plain')).expires_at).toBeNull();
});

test('an archived context is left out of lists, readable, and back with its next input', async () => {
  const { body: context } = await api.post('/api/contexts', { config: { idle_timeout_s: 9_000 } });
  const { id, worker_id: worker } = context;
  await archive(id);
  expect(await read(id)).toMatchObject({ id, archived_at: expect.any(String), expires_at: null });
  expect(await ids('/api/contexts')).not.toContain(id);
  expect(await ids('/api/contexts?archived=true')).toEqual([id]);
  expect(await ids('/api/workers')).not.toContain(worker);
  expect(await ids('/api/workers?archived=true')).toEqual([worker]);
  expect((await api.get(`/api/contexts/${id}/messages`)).status).toBe(200);
  const patched = await api.call('PATCH', `/api/contexts/${id}`, { title: 'old' });
  expect(patched.body.archived_at).toEqual(expect.any(String));
  expect((await api.post('/api/chat', { message: 'back', session_id: id })).status).toBe(202);
  const back = await read(id);
  expect(back.archived_at).toBeNull();
  expect(Date.parse(back.expires_at)).toBeGreaterThan(Date.now() + 60_000);
  expect(await ids('/api/contexts')).toContain(id);
  expect(await ids('/api/contexts?archived=true')).toEqual([]);
});

test('an invalid value of "archived" is refused', async () => {
  for (const path of ['/api/contexts', '/api/workers']) {
    const refused = await api.get(`${path}?archived=maybe`);
    expect(refused.body.error).toMatchObject({ code: 'invalid_request', param: 'archived' });
    expect((await api.get(`${path}?archived=false`)).status).toBe(200);
  }
});
