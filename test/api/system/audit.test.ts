// The audit log: each act that it records has one entry, written in its own transaction, with who did it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import type { ContextId, ToolCallId } from '../../../src/core/ids.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';
import { addProcess, take } from '../manual-worker.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const OPERATOR = withKey(ADMIN_KEY);
const FIRST = withKey('of-the-environment');
const SECRET = 's'.repeat(40);

let api: Api;
beforeAll(async () => {
  const keys = 'of-the-environment:environment,of-another:other,of-a-reader:environment:read';
  api = await openApi({
    NIGHTSHIFT_API_KEYS: keys,
    NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY,
    NIGHTSHIFT_SECRET_KEY: SECRET,
  });
});
afterAll(() => api.close());

async function entries(query = '', headers: Record<string, string> = FIRST): Promise<Body[]> {
  const { status, body } = await api.get(`/api/audit${query}`, headers);
  expect(status).toBe(200);
  return body.data;
}

/** The entries that `act` leads to, the oldest first. */
async function entriesOf(act: () => Promise<unknown>): Promise<Body[]> {
  const before = new Set((await entries('?limit=200')).map(({ id }) => id));
  await act();
  return (await entries('?limit=200')).filter(({ id }) => !before.has(id)).reverse();
}

const envActor = { kind: 'key', id: expect.stringMatching(/^env:[\w-]{10}$/), user: null, on_behalf_of: null };

test('has keys that were made, rotated and revoked, without their secrets', async () => {
  let made: Body;
  let rotated: Body;
  const found = await entriesOf(async () => {
    made = (await api.post('/api/keys', { name: 'ci', scopes: ['read', 'keys'] }, FIRST)).body;
    await api.post(`/api/keys/${made.id}/rotate`, { overlap_s: 60 }, withKey(made.key));
    rotated = (await api.post(`/api/keys/${made.id}/rotate`, { overlap_s: 60 }, FIRST)).body;
    await api.call('DELETE', `/api/keys/${made.id}`, undefined, FIRST);
    // It is revoked already: nothing happens.
    await api.call('DELETE', `/api/keys/${made.id}`, undefined, FIRST);
    await api.call('DELETE', '/api/keys/00000000-0000-7000-8000-000000000000', undefined, FIRST);
  });
  expect(found.map(({ action, target }) => [action, target])).toEqual([
    ['key.created', made.id],
    ['key.rotated', made.id],
    ['key.rotated', made.id],
    ['key.revoked', made.id],
  ]);
  expect(found[0]).toEqual({
    id: expect.any(String),
    at: expect.stringMatching(/Z$/),
    actor: envActor,
    action: 'key.created',
    target: made.id,
    detail: { name: 'ci', scopes: ['read', 'keys'], expires_at: null },
    request_id: expect.any(String),
  });
  expect(found[1].actor).toEqual({ kind: 'key', id: made.id, user: null, on_behalf_of: null });
  expect(found[2].detail).toEqual({ replaced_by: rotated.id, overlap_s: 60 });
  expect(JSON.stringify(found)).not.toContain(made.key.slice(-43));
});

test('has the request of each entry', async () => {
  const answer = await api.post('/api/keys', { name: 'traced', scopes: ['read'] }, FIRST);
  const [entry] = await entries(`?target=${answer.body.id}`);
  expect(entry.request_id).toBe(answer.headers['x-request-id']);
});

test('has tokens that were made and revoked', async () => {
  const found = await entriesOf(async () => {
    await api.post('/api/tokens', { user: 'ann', scopes: ['read'], expires_in_s: 60 }, FIRST);
    await api.call('DELETE', '/api/tokens?user=ann', undefined, FIRST);
  });
  expect(found.map(({ action }) => action)).toEqual(['token.created', 'tokens.revoked']);
  expect(found[0].detail).toEqual({
    user: 'ann',
    scopes: ['read'],
    context_ids: null,
    expires_at: expect.stringMatching(/Z$/),
  });
  expect(found[1].target).toBe('ann');
});

test('has sessions that began and ended', async () => {
  const found = await entriesOf(async () => {
    const { headers } = await api.post('/api/session', { key: 'of-the-environment' });
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    await api.post('/api/session', { key: 'wrong' });
    const same = { cookie, origin: 'http://localhost', host: 'localhost' };
    await api.call('DELETE', '/api/session', undefined, same);
    await api.call('DELETE', '/api/session', undefined, same);
  });
  expect(found.map(({ action, actor }) => [action, actor.kind])).toEqual([
    ['session.started', 'key'],
    ['session.ended', 'session'],
  ]);
  expect(found[0].actor.id).toBe(found[1].actor.id);
  expect(found[0].detail).toEqual({ address: '127.0.0.1' });
});

test('has roles, configs and deletions, once under an Idempotency-Key, and none for what was refused', async () => {
  let worker: Body;
  const found = await entriesOf(async () => {
    await api.call('PUT', '/api/roles/guide', { system_prompt: 'Be kind.' }, FIRST);
    worker = (await api.post('/api/workers', { name: 'w', role: 'guide' }, FIRST)).body;
    const patch = (headers: object) =>
      api.call('PATCH', `/api/workers/${worker.id}`, { config: { max_steps: 3 } }, { ...FIRST, ...headers });
    await patch({ 'idempotency-key': 'k' });
    await patch({ 'idempotency-key': 'k' });
    expect((await patch({ 'if-match': '"99"' })).status).toBe(412);
    expect((await api.call('PATCH', `/api/workers/${worker.id}`, { name: 'x' }, FIRST)).status).toBe(200);
    await api.call('PUT', `/api/contexts/${worker.context_id}`, { config: {} }, FIRST);
    await api.call('DELETE', `/api/workers/${worker.id}`, undefined, FIRST);
    await api.call('DELETE', '/api/roles/guide', undefined, FIRST);
  });
  expect(found.map(({ action, target, detail }) => [action, target, detail])).toEqual([
    ['role.saved', 'guide', { version: 1 }],
    ['config.changed', worker.id, { fields: ['max_steps'] }],
    ['config.changed', worker.context_id, { fields: null }],
    ['worker.deleted', worker.id, {}],
    ['role.deleted', 'guide', {}],
  ]);
});

test('has deleted contexts and imports', async () => {
  let made: Body;
  const found = await entriesOf(async () => {
    const pairs = { entries: [{ user: 'a', assistant: 'b' }] };
    made = (await api.post('/api/contexts/import?user=ann', pairs, FIRST)).body;
    await api.call('DELETE', `/api/contexts/${made.id}`, undefined, FIRST);
  });
  expect(found.map(({ action, target }) => [action, target])).toEqual([
    ['context.imported', made.id],
    ['context.deleted', made.id],
  ]);
  expect(found[0].actor.on_behalf_of).toBe('ann');
  expect(found[1].detail).toEqual({ worker_id: made.worker_id });
});

test('has decisions on calls, with the person on whose behalf a key decided', async () => {
  const { body: worker } = await api.post('/api/workers', { name: 'w' }, FIRST);
  const context: ContextId = worker.context_id;
  await api.post(`/api/contexts/${context}/messages`, { content: 'look' }, FIRST);
  const manual = await take(api, context, await addProcess(api));
  await manual.admit();
  const call = ids.next<ToolCallId>();
  await manual.answer([{ type: 'tool_use', id: call, name: 'look', input: {} }]);
  await manual.askApproval();
  const found = await entriesOf(async () => {
    const approve = `/api/contexts/${context}/tools/approve`;
    const body = { all: true, decision: 'approve', remember: true, user: 'boss' };
    expect((await api.post(approve, body, FIRST)).status).toBe(200);
    expect((await api.post(approve, body, FIRST)).status).toBe(409);
    await api.call('DELETE', `/api/contexts/${context}/grants/look`, undefined, FIRST);
  });
  expect(found.map(({ action, target, detail }) => [action, target, detail])).toEqual([
    ['tool_call.approved', call, { context_id: context, tool: 'look', remember_for_s: 30 * 86_400 }],
    ['grant.removed', context, { tool: 'look' }],
  ]);
  expect(found[0].actor).toEqual({ ...envActor, on_behalf_of: 'boss' });
});

test('is filtered by actor, action, target and time, page by page', async () => {
  const { body: made } = await api.post('/api/keys', { name: 'of-filters', scopes: ['keys'] }, FIRST);
  const own = withKey(made.key);
  for (const user of ['a', 'b', 'c']) await api.call('DELETE', `/api/tokens?user=${user}`, undefined, own);
  const ofActor = await entries(`?actor=${made.id}`);
  expect(ofActor.map(({ target }) => target)).toEqual(['c', 'b', 'a']);
  expect((await entries(`?actor=${made.id}&target=b`)).map(({ target }) => target)).toEqual(['b']);
  expect(await entries(`?actor=${made.id}&action=key.created`)).toEqual([]);
  const at = encodeURIComponent(ofActor[1].at);
  expect((await entries(`?actor=${made.id}&after=${at}`)).map(({ target }) => target)).toContain('b');
  expect((await entries(`?actor=${made.id}&before=${at}`)).map(({ target }) => target)).not.toContain('b');
  const { body: first } = await api.get(`/api/audit?actor=${made.id}&limit=2`, FIRST);
  expect(first.data).toHaveLength(2);
  const { body: last } = await api.get(`/api/audit?actor=${made.id}&limit=2&cursor=${first.next_cursor}`, FIRST);
  expect([last.data.map(({ target }: Body) => target), last.next_cursor]).toEqual([['a'], null]);
  for (const query of ['?action=no.such', '?after=yesterday', '?cursor=x', '?actor='])
    expect((await api.get(`/api/audit${query}`, FIRST)).status).toBe(422);
});

test('is of one tenant, needs the scope keys, and shows the operator what concerns the installation', async () => {
  await api.post('/api/keys', { name: 'foreign', scopes: ['read'] }, withKey('of-another'));
  expect((await entries('?limit=200')).map(({ detail }) => detail.name)).not.toContain('foreign');
  expect((await entries('', withKey('of-another'))).map(({ detail }) => detail.name)).toEqual(['foreign']);
  expect((await api.get('/api/audit', withKey('of-a-reader'))).status).toBe(403);
  await api.post('/api/tenants', { name: 'audited' }, OPERATOR);
  const [created] = await entries('', OPERATOR);
  expect(created).toMatchObject({
    action: 'tenant.created',
    target: 'audited',
    actor: { kind: 'operator', id: null, user: null, on_behalf_of: null },
  });
  expect((await entries('?limit=200')).map(({ action }) => action)).not.toContain('tenant.created');
});

test('an act whose entry cannot be written does not happen', async () => {
  await api.database.db.execute(
    sql`alter table audit_entries add constraint no_more check (action = 'none') not valid`,
  );
  try {
    expect((await api.post('/api/keys', { name: 'unrecorded', scopes: ['read'] }, FIRST)).status).toBe(500);
    expect((await api.post('/api/tokens', { user: 'a', scopes: ['read'], expires_in_s: 9 }, FIRST)).status).toBe(500);
    expect((await api.call('PUT', '/api/roles/unrecorded', { system_prompt: 'x' }, FIRST)).status).toBe(500);
  } finally {
    await api.database.db.execute(sql`alter table audit_entries drop constraint no_more`);
  }
  const { body } = await api.get('/api/keys', FIRST);
  expect(body.data.map(({ name }: Body) => name)).not.toContain('unrecorded');
  expect((await api.get('/api/roles/unrecorded', FIRST)).status).toBe(404);
});
