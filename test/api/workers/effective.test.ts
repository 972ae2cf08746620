// Effective settings of workers and roles: what applies, and where it comes from.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../../src/core/workers/settings.ts';
import { addProcess } from '../manual-worker.ts';
import { openApi, type Api } from '../harness.ts';

const KEY = 'key-of-effective-settings-1';
const FILE: ReadonlyMap<string, Role> = new Map([
  ['clerk', { system_prompt: 'You file.', tools: ['read', 'write'], approval: [{ tool: 'read', decision: 'always' }] }],
]);

let api: Api;
beforeAll(async () => {
  const env = {
    NIGHTSHIFT_DEFAULT_MODEL: 'simulated/standard',
    NIGHTSHIFT_API_KEYS: `${KEY}:default`,
    NIGHTSHIFT_SECRET_KEY: 'a-secret-of-more-than-32-characters',
  };
  api = await openApi(env, undefined, FILE);
  await addProcess(api, { tools: ['read', 'write'], roles: ['clerk', 'elsewhere'] });
});
afterAll(() => api.close());

let count = 1;
const headers = { authorization: `Bearer ${KEY}` };
const get = (path: string) => api.get(path, headers);
const make = async (body: object) => (await api.post('/api/workers', { name: 'w', ...body }, headers)).body;
const effectiveOf = async (id: string) => (await get(`/api/workers/${id}?include=effective`)).body.effective;

describe('effective settings of a worker', () => {
  test('are its config over its role over the defaults, each with its source', async () => {
    await api.call('PUT', '/api/roles/coder', { model: 'simulated/role', max_steps: 7, tools: ['write'] }, headers);
    const { id } = await make({ role: 'coder', config: { max_steps: 3 } });
    const effective = await effectiveOf(id);
    expect(effective).toMatchObject({
      model: { value: 'simulated/role', source: 'role', inherited: null },
      max_steps: { value: 3, source: 'worker', inherited: { value: 7, source: 'role' } },
      streaming: { value: true, source: 'default', inherited: null },
      context_limit: { value: 1_000_000, source: 'provider', inherited: null },
      tools: { value: ['write'], source: 'role' },
      limits: { depth: { source: 'default' } },
      approval: [],
      offered_tools: [
        {
          name: 'write',
          field: 'tools',
          source: 'role',
          state: 'offered',
          effect: 'idempotent',
          approval: 'always',
          rule: null,
        },
      ],
      unknown_servers: [],
    });
  });

  test('are those of the version of the role that it was created from', async () => {
    await api.call('PUT', '/api/roles/writer', { system_prompt: 'First.' }, headers);
    const { id } = await make({ role: 'writer' });
    await api.call('PUT', '/api/roles/writer', { system_prompt: 'Second.' }, headers);
    expect((await effectiveOf(id)).system_prompt).toEqual({ value: 'First.', source: 'role', inherited: null });
    await api.call('DELETE', '/api/roles/writer', undefined, headers);
    expect((await effectiveOf(id)).system_prompt.value).toBe('First.');
  });

  test('have the tools of a role of the config file, with the rule that decides about each', async () => {
    const { id } = await make({ role: 'clerk' });
    const { offered_tools, system_prompt } = await effectiveOf(id);
    expect(system_prompt).toEqual({ value: 'You file.', source: 'role', inherited: null });
    const rule = { tool: 'read', decision: 'always', source: 'role' };
    expect(offered_tools).toMatchObject([
      { name: 'read', approval: 'always', rule },
      { name: 'write', approval: 'always', rule: null },
    ]);
  });

  test.each([
    [{ idle_timeout_s: 60 }, {}, 60, 'role'],
    [{ idle_timeout_s: 60 }, { idle_timeout_s: 30 }, 30, 'worker'],
    [{}, {}, null, 'default'],
  ])(
    'have the idle timeout after which the context is archived: role %j, config %j',
    async (role, config, value, source) => {
      await api.call('PUT', '/api/roles/idle', { max_steps: count++, ...role }, headers);
      const { id, context_id } = await make({ role: 'idle', config });
      expect((await effectiveOf(id)).idle_timeout_s).toMatchObject({ value, source });
      const { expires_at, updated_at } = (await get(`/api/contexts/${context_id}`)).body;
      const seconds =
        expires_at === null ? null : Math.round((Date.parse(expires_at) - Date.parse(updated_at)) / 1_000);
      expect(seconds).toBe(value);
    },
  );

  test('have the limits by which a child worker is refused', async () => {
    await api.call('PUT', '/api/roles/limited', { limits: { children: 1, depth: 5 } }, headers);
    const { id } = await make({ role: 'limited', config: { limits: { depth: 1, children: 9 } } });
    expect((await effectiveOf(id)).limits).toMatchObject({
      depth: { value: 1, source: 'worker' },
      children: { value: 1, source: 'role' },
      workers: { source: 'default' },
    });
    const child = await api.post('/api/workers', { name: 'c', parent_worker_id: id }, headers);
    const second = await api.post('/api/workers', { name: 'c', parent_worker_id: id }, headers);
    expect([child.status, second.body.error.code]).toEqual([201, 'worker_limit']);
    const below = await api.post('/api/workers', { name: 'c', parent_worker_id: child.body.id }, headers);
    expect(below.body.error.code).toBe('worker_limit');
  });

  test('without a role come from the defaults', async () => {
    const { id } = await make({});
    expect((await effectiveOf(id)).model).toEqual({
      value: 'simulated/standard',
      source: 'environment',
      inherited: null,
    });
  });

  test('are null with a role that only other processes have', async () => {
    const { id } = await make({ role: 'elsewhere' });
    expect(await effectiveOf(id)).toBeNull();
  });

  test('are left out unless they are asked for, and cost one read more, of the role', async () => {
    const { id } = await make({ role: 'coder' });
    api.statements.length = 0;
    expect((await get(`/api/workers/${id}`)).body).not.toHaveProperty('effective');
    const plain = api.statements.length;
    api.statements.length = 0;
    const answer = await get(`/api/workers/${id}?include=effective`);
    expect(api.statements.length - plain).toBe(1);
    expect(answer.headers['etag']).toBe('"1"');
    expect((await get(`/api/workers/${id}?include=all`)).status).toBe(422);
  });

  test('are refused to tokens, which read no roles', async () => {
    const { id } = await make({ user: 'ada' });
    const { body } = await api.post('/api/tokens', { user: 'ada', scopes: ['read'], expires_in_s: 600 }, headers);
    const own = { authorization: `Bearer ${body.token}` };
    expect((await api.get(`/api/workers/${id}`, own)).status).toBe(200);
    const refused = await api.get(`/api/workers/${id}?include=effective`, own);
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([403, 'forbidden', 'include']);
  });
});

describe('effective settings of a role', () => {
  test('have what applies without the own values of the role', async () => {
    await api.call('PUT', '/api/roles/tester', { model: 'simulated/t', mode: 'plan', tools: ['read'] }, headers);
    const { effective } = (await get('/api/roles/tester?include=effective')).body;
    expect(effective).toMatchObject({
      model: {
        value: 'simulated/t',
        source: 'role',
        inherited: { value: 'simulated/standard', source: 'environment' },
      },
      offered_tools: [{ name: 'read', state: 'plan_mode' }],
    });
  });

  test('are those of the version that is read', async () => {
    await api.call('PUT', '/api/roles/versioned', { max_steps: 1 }, headers);
    await api.call('PUT', '/api/roles/versioned', { max_steps: 2 }, headers);
    const { effective } = (await get('/api/roles/versioned?version=1&include=effective')).body;
    expect(effective.max_steps.value).toBe(1);
  });

  test('of the config file have all that it has; null where only other processes have it', async () => {
    const { effective, source } = (await get('/api/roles/clerk?include=effective')).body;
    expect([source, effective.offered_tools.length, effective.tools.value]).toEqual(['file', 2, ['read', 'write']]);
    expect((await get('/api/roles/elsewhere?include=effective')).body.effective).toBeNull();
    expect((await get('/api/roles/clerk')).body).not.toHaveProperty('effective');
  });
});
