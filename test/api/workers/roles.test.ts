// Roles through the API: versions, the copy that workers keep of them, and the names of the config file beside them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import type { Role } from '../../../src/core/workers/settings.ts';
import { read } from '../../../src/db/run/contexts.ts';
import { readMailbox } from '../../../src/db/run/mailbox/mailbox.ts';
import { addProcess, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

const FILE: ReadonlyMap<string, Role> = new Map([
  ['clerk', { system_prompt: 'You file.', tools: ['read'] }],
  ['zebra', { model: 'simulated/z' }],
]);

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_DEFAULT_MODEL: 'simulated/standard' }, undefined, FILE);
  await addProcess(api, { tools: ['read', 'write'], roles: ['clerk', 'zebra', 'elsewhere'] });
});
afterAll(() => api.close());

let count = 0;
const newName = (): string => `role-${(count += 1)}`;
const put = (name: string, body: object, headers?: Record<string, string>) =>
  api.call('PUT', `/api/roles/${name}`, body, headers);
const remove = (name: string, headers?: Record<string, string>) =>
  api.call('DELETE', `/api/roles/${name}`, undefined, headers);
const make = (role: string) => api.post('/api/workers', { name: 'w', role });

/** The role as a process that runs the worker receives it. */
async function definitionOf({ context_id }: Body): Promise<Role | null | undefined> {
  const row = await read(api.database.db, context_id as ContextId);
  return row === null ? undefined : (await readMailbox(api.database.db, row))?.worker.definition;
}

describe('a role', () => {
  test('is stored as it was put, with a version and its tag', async () => {
    const name = newName();
    const definition = {
      system_prompt: 'You \0 \ud800 code.',
      model: 'simulated/x',
      tools: ['write', 'read'],
      max_steps: 7,
      max_tokens: 9,
      streaming: false,
      mode: 'act',
      parameters: { a: { b: [1, null] } },
    };
    const made = await put(name, definition);
    expect(made.status).toBe(200);
    expect(made.headers['etag']).toBe('"1"');
    expect(made.body).toEqual({
      name,
      version: 1,
      source: 'api',
      ...definition,
      created_at: expect.any(String),
      updated_at: made.body.created_at,
    });
    const got = await api.get(`/api/roles/${name}`);
    expect([got.body, got.headers['etag']]).toEqual([made.body, '"1"']);
  });

  test('gets a new version with a different content, and none with the same', async () => {
    const name = newName();
    await put(name, { max_steps: 1, max_tokens: 2 });
    expect((await put(name, { max_tokens: 2, max_steps: 1 })).body.version).toBe(1);
    const second = await put(name, { max_steps: 2 });
    expect(second.body).toMatchObject({ version: 2, max_steps: 2 });
    expect(second.body).not.toHaveProperty('max_tokens');
    expect((await put(name, { max_steps: 1, max_tokens: 2 })).body.version).toBe(3);
    expect((await api.get(`/api/roles/${name}?version=2`)).body).toEqual(second.body);
    expect((await api.get(`/api/roles/${name}?version=1`)).body.max_tokens).toBe(2);
    expect((await api.get(`/api/roles/${name}?version=4`)).status).toBe(404);
    for (const version of ['0', 'x', '2147483648']) {
      expect((await api.get(`/api/roles/${name}?version=${version}`)).status).toBe(422);
    }
  });

  test('is changed under its version, once', async () => {
    const name = newName();
    expect((await put(name, {}, { 'if-match': '*' })).status).toBe(412);
    await put(name, {});
    expect((await put(name, { max_steps: 1 }, { 'if-match': '"2"' })).body.error.code).toBe('version_conflict');
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((max_steps) => put(name, { max_steps }, { 'if-match': '"1"' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(4);
    expect((await remove(name, { 'if-match': '"1"' })).status).toBe(412);
    expect((await remove(name, { 'if-match': '"2"' })).status).toBe(204);
  });

  test('accepts many concurrent changes, each as a version of its own', async () => {
    const name = newName();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => put(name, { max_steps: index + 1 })));
    expect(answers.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
  });

  test('that is put again under its key is answered as the first time', async () => {
    const name = newName();
    const key = { 'idempotency-key': name };
    const first = await put(name, { max_steps: 1 }, key);
    await put(name, { max_steps: 2 });
    const again = await put(name, { max_steps: 1 }, key);
    expect([again.body, again.headers['etag']]).toEqual([first.body, '"1"']);
    expect((await api.get(`/api/roles/${name}`)).body.version).toBe(2);
  });

  test.each([
    ['a b', {}, 'invalid_request', 'name'],
    ['a'.repeat(65), {}, 'invalid_request', 'name'],
    ['a%00b', {}, 'invalid_request', 'name'],
    ['x', { model: 'openai/gpt' }, 'unknown_model', 'model'],
    ['x', { model: 'gpt' }, 'unknown_model', 'model'],
    ['x', { tools: ['shred'] }, 'unknown_tool', 'tools'],
    ['x', { max_steps: 0 }, 'invalid_request', 'max_steps'],
    ['x', { parameters: { stream: true } }, 'invalid_request', 'parameters.stream'],
    ['x', { compaction: { type: 'zip' } }, 'invalid_request', 'compaction.type'],
    ['x', { approval: [{ tool: 'a b', decision: 'deny' }] }, 'invalid_request', 'approval.0.tool'],
    ['x', { mode: 'fly' }, 'invalid_request', 'mode'],
    ['x', { colour: 'red' }, 'invalid_request', 'colour'],
  ])('named %s as %j is refused', async (name, body, code, param) => {
    const refused = await put(name, body);
    expect(refused.status).toBe(422);
    expect(refused.body.error).toMatchObject({ code, param });
    expect((await api.get(`/api/roles/${name}`)).status).toBe(404);
  });
});

describe('a worker', () => {
  test('keeps the version it was made from, until it is given the role again', async () => {
    const name = newName();
    await put(name, { max_steps: 1 });
    const { status, body: worker } = await make(name);
    expect(status).toBe(201);
    expect(worker).toMatchObject({ role: name, role_version: 1 });
    await put(name, { max_steps: 2 });
    expect((await api.get(`/api/workers/${worker.id}`)).body.role_version).toBe(1);
    expect(await definitionOf(worker)).toEqual({ max_steps: 1 });
    const renamed = await api.call('PATCH', `/api/workers/${worker.id}`, { name: 'n' });
    expect(renamed.body.role_version).toBe(1);
    const patched = await api.call('PATCH', `/api/workers/${worker.id}`, { role: name });
    expect(patched.body).toMatchObject({ role: name, role_version: 2 });
    expect(await definitionOf(worker)).toEqual({ max_steps: 2 });
    const bare = await api.call('PATCH', `/api/workers/${worker.id}`, { role: null });
    expect(bare.body).toMatchObject({ role: null, role_version: null });
    expect(await definitionOf(worker)).toBeNull();
  });

  test('is made with its context from such a role, too', async () => {
    const name = newName();
    await put(name, { max_steps: 1 });
    const { body } = await api.post('/api/contexts', { worker: { name: 'w', role: name } });
    expect((await api.get(`/api/workers/${body.worker_id}`)).body).toMatchObject({
      role: name,
      role_version: 1,
    });
  });

  test('outlives its role; no other is made from a deleted one, until it is defined again', async () => {
    const name = newName();
    await put(name, { max_steps: 1 });
    const { body: worker } = await make(name);
    expect((await remove(name)).status).toBe(204);
    expect((await api.get(`/api/roles/${name}`)).status).toBe(404);
    expect((await remove(name)).status).toBe(404);
    expect((await api.get(`/api/roles/${name}?version=1`)).body.max_steps).toBe(1);
    expect((await api.get(`/api/roles/${name}?version=2`)).status).toBe(404);
    for (const refused of [
      await make(name),
      await api.post('/api/contexts', { role: name }),
      await api.call('PATCH', `/api/workers/${worker.id}`, { role: name }),
    ]) {
      expect(refused.body.error).toMatchObject({ code: 'unknown_role', param: 'role' });
    }
    expect(await definitionOf(worker)).toEqual({ max_steps: 1 });
    expect((await put(name, { max_steps: 1 })).body.version).toBe(3);
    expect((await make(name)).body.role_version).toBe(3);
  });

  test('of a missing role gets an error with the roles that exist, of both kinds', async () => {
    const name = newName();
    await put(name, {});
    const refused = await make('king');
    expect(refused.body.error.code).toBe('unknown_role');
    for (const known of ['clerk', 'elsewhere', name]) expect(refused.body.detail).toContain(known);
  });

  test("of a role of the API is refused by no name check, but by the role's needs", async () => {
    const name = newName();
    await put(name, { tools: ['write'] });
    const { body: worker } = await make(name);
    await api.post(`/api/workers/${worker.id}/messages`, { content: 'x' });
    const why = async () => (await api.get(`/api/contexts/${worker.context_id}/state`)).body.why;
    expect(await why()).toMatch(/^The job waits for a free worker process/);
    await api.database.db.execute(`update roles set definition = '{"tools": ["gone"]}' where name = '${name}'`);
    expect(await why()).toBe('No live worker process serves tool "gone".');
  });
});

describe('names of the config file', () => {
  test.each(['clerk', 'elsewhere'])('are read-only: %s', async (name) => {
    for (const refused of [await put(name, { max_steps: 1 }), await remove(name)]) {
      expect(refused.status).toBe(403);
      expect(refused.body.error).toMatchObject({ code: 'forbidden', param: 'name' });
      expect(refused.body.detail).toContain(`The role ${name} is defined in the config file`);
    }
  });

  test('show the knowledge of this process, and have no versions', async () => {
    const clerk = await api.get('/api/roles/clerk');
    expect(clerk.headers['etag']).toBeUndefined();
    expect(clerk.body).toEqual({
      name: 'clerk',
      version: null,
      source: 'file',
      system_prompt: 'You file.',
      tools: ['read'],
      created_at: null,
      updated_at: null,
    });
    const elsewhere = {
      name: 'elsewhere',
      version: null,
      source: 'file',
      created_at: null,
      updated_at: null,
    };
    expect((await api.get('/api/roles/elsewhere')).body).toEqual(elsewhere);
    expect((await api.get('/api/roles/clerk?version=1')).status).toBe(404);
    expect((await make('clerk')).body).toMatchObject({ role: 'clerk', role_version: null });
  });

  test('hide a role of the API that had the name before', async () => {
    const name = 'clerk';
    await api.database.db.execute(
      `insert into roles (tenant_id, name, version, definition) values ('${DEFAULT_TENANT}', '${name}', 1, '{}')`,
    );
    expect((await api.get(`/api/roles/${name}`)).body.source).toBe('file');
    const { body } = await api.get('/api/roles?limit=200');
    expect(body.data.filter((role: Body) => role.name === name)).toHaveLength(1);
    expect((await make(name)).body.role_version).toBeNull();
  });

  test('name the model of a call in progress', async () => {
    const owner = await addProcess(api);
    for (const [role, model] of [
      ['zebra', 'simulated/z'],
      ['clerk', 'simulated/standard'],
    ] as const) {
      const { body: worker } = await make(role);
      const { body } = await api.post(`/api/workers/${worker.id}/messages`, { content: 'x' });
      await (await take(api, worker.context_id, owner)).admit();
      const steps = await api.get(`/api/jobs/${body.job_id}/steps`);
      expect(steps.body.data).toMatchObject([{ kind: 'model', name: model, status: 'running' }]);
    }
  });
});

describe('the list', () => {
  test('has both kinds in the order of their names, in pages', async () => {
    for (const name of ['aaa', 'Beta', 'delta', 'zz']) await put(name, { max_steps: 1 });
    const whole = (await api.get('/api/roles?limit=200')).body;
    const names = whole.data.map(({ name }: Body) => name);
    expect(names).toEqual(names.toSorted((a: string, b: string) => (a < b ? -1 : 1)));
    for (const name of ['Beta', 'aaa', 'clerk', 'delta', 'elsewhere', 'zebra', 'zz']) {
      expect(names.filter((one: string) => one === name)).toEqual([name]);
    }
    expect(whole.next_cursor).toBeNull();
    for (const limit of [1, 2, 3]) {
      const paged: Body[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Body = (await api.get(`/api/roles?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`)).body;
        paged.push(...page.data);
        cursor = page.next_cursor;
      }
      expect(paged).toEqual(whole.data);
    }
    expect((await api.get('/api/roles?cursor=x')).status).toBe(422);
  });
});

test('roles are of their tenant alone', async () => {
  const shared = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex' });
  const [ours, theirs] = [{ authorization: 'Bearer ours' }, { authorization: 'Bearer theirs' }];
  await shared.call('PUT', '/api/roles/coder', { max_steps: 1 }, ours);
  expect((await shared.get('/api/roles/coder', theirs)).status).toBe(404);
  expect((await shared.get('/api/roles', theirs)).body.data).toEqual([]);
  expect((await shared.call('DELETE', '/api/roles/coder', undefined, theirs)).status).toBe(404);
  expect((await shared.call('PUT', '/api/roles/coder', { max_steps: 2 }, theirs)).body.version).toBe(1);
  const made = await shared.post('/api/workers', { name: 'w', role: 'coder' }, theirs);
  const row = await read(shared.database.db, made.body.context_id);
  if (row === null) throw new Error('no context');
  expect((await readMailbox(shared.database.db, row))?.worker.definition).toEqual({ max_steps: 2 });
  expect((await shared.get('/api/roles/coder', ours)).body).toMatchObject({ version: 1, max_steps: 1 });
  await shared.close();
});
