// What a tenant may use is checked wherever a request names it, with every kind of credential.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../e2e/rig/until.ts';
import { addProcess } from '../manual-worker.ts';
import { openApi, withKey, type Api, type Body } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

const ADMIN = { authorization: 'Bearer the-key-of-the-operator' };
const ALLOW = {
  tools: ['read*', 'files__get'],
  roles: ['coder'],
  mcp_servers: ['files'],
  models: ['simulated/small*'],
};

const ALL_SCOPES = ['read', 'run', 'configure', 'keys'];

const SERVED = {
  tools: ['read', 'run_command'],
  roles: ['coder', 'king'],
  models: ['simulated', 'anthropic'],
  mcpServers: ['files', 'mail'],
};

let api: Api;
/** Of a tenant with lists. */
let acme: Api;
/** Of a tenant without. */
let globex: Api;
beforeAll(async () => {
  api = await openApi({
    NIGHTSHIFT_API_KEYS: 'the-key-of-acme:acme,the-key-of-globex:globex',
    NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator',
    NIGHTSHIFT_SECRET_KEY: 'a-secret-of-more-than-32-characters',
    NIGHTSHIFT_DEFAULT_MODEL: 'simulated/large',
  });
  await addProcess(api, SERVED);
  const made = await api.post('/api/tenants', { name: 'acme', allow: ALLOW }, ADMIN);
  expect(made.status).toBe(201);
  acme = withKey(api, 'the-key-of-acme');
  globex = withKey(api, 'the-key-of-globex');
});
afterAll(() => api.close());

type Request = [method: string, path: string, body: object];

/** Every request that can name what is in the config or the role. */
async function requestsWith(body: Body, of: Api): Promise<Request[]> {
  const { id, context_id } = (await of.post('/api/workers', { name: 'w' })).body;
  const { role, config } = body;
  return [
    ['POST', '/api/workers', { name: 'w', ...body }],
    ['POST', '/api/contexts', body],
    ...(role === undefined ? [] : [['POST', '/api/contexts', { worker: { role } }] as Request]),
    ['PATCH', `/api/workers/${id}`, body],
    ...(config === undefined
      ? []
      : ([
          ['PATCH', `/api/contexts/${context_id}`, { config }],
          ['PUT', `/api/contexts/${context_id}`, { config }],
        ] as Request[])),
    ['POST', '/api/contexts/import', { entries: [{ user: 'a', assistant: 'b' }], config, worker: { role } }],
  ];
}

const forbidden = (param: string | null, message: RegExp) => ({
  status: 403,
  body: { error: { code: 'forbidden', param, message: expect.stringMatching(message) } },
});

describe('a name that the tenant may not use', () => {
  test.each<[Body, string, RegExp]>([
    [
      { config: { model: 'simulated/large' } },
      'config.model',
      /the model "simulated\/large".*: simulated\/small\*[.]$/,
    ],
    [{ config: { model: 'anthropic/claude' } }, 'config.model', /"anthropic\/claude"/],
    [{ config: { compaction: { model: 'anthropic/c' } } }, 'config.compaction.model', /"anthropic\/c"/],
    [{ config: { tools: ['read', 'run_command'] } }, 'config.tools', /the tool "run_command" for this tenant/],
    [{ config: { tools: ['files__set', 'mail__get'] } }, 'config.tools', /the tools "files__set", "mail__get"/],
    [{ config: { mcp_servers: ['files', 'mail'] } }, 'config.mcp_servers', /the MCP server "mail"/],
    [{ role: 'king' }, 'role', /the role "king".*Allowed roles: coder/],
    // Whether it exists is not told.
    [{ role: 'nobody' }, 'role', /does not allow the role "nobody"/],
    [{ config: { tools: ['unknown'] } }, 'config.tools', /does not allow the tool "unknown"/],
  ])('is refused wherever it is written: %j', async (body, param, message) => {
    for (const [method, path, payload] of await requestsWith(body, acme))
      expect(await acme.call(method, path, payload), `${method} ${path}`).toMatchObject(forbidden(param, message));
  });

  test('is refused in the definition of a role, and as its name', async () => {
    const saved = await acme.call('PUT', '/api/roles/coders', { tools: ['read'] });
    expect(saved).toMatchObject(forbidden('name', /the role "coders"/));
    await api.call('PATCH', '/api/tenants/acme', { allow: { roles: ['coder', 'my_*'] } }, ADMIN);
    const save = (definition: object) => acme.call('PUT', '/api/roles/my_role', definition);
    await until('the new list', async () => (await save({ tools: ['read'] })).status === 200);
    expect(await save({ tools: ['run_command'] })).toMatchObject(forbidden('tools', /"run_command"/));
    expect(await save({ model: 'anthropic/claude' })).toMatchObject(forbidden('model', /"anthropic\/claude"/));
    expect((await acme.post('/api/workers', { name: 'w', role: 'my_role' })).status).toBe(201);
  });

  test('is refused as the model of a compaction', async () => {
    const { context_id: id } = await acme.worker();
    const asked = await acme.post(`/api/contexts/${id}/compact`, { type: 'llm', model: 'anthropic/claude' });
    expect(asked).toMatchObject(forbidden('model', /"anthropic\/claude"/));
    expect((await acme.post(`/api/contexts/${id}/compact`, { type: 'llm', model: 'simulated/small' })).status).toBe(
      202,
    );
  });

  test('is refused for a session, which uses the default model', async () => {
    const begun = await acme.post('/api/chat', { message: 'hi' });
    expect(begun).toMatchObject(forbidden(null, /default model.*"simulated\/large"/));
  });

  test('is left out of an import of the old layout, as one that is not served', async () => {
    const branches = [{ name: 'main' }];
    const config = { model_id: 'claude-4', agent_role: 'king' };
    const metadata = { id: 'c', title: 't', state: 'idle', active_branch: 'main', branches, config };
    const files = { 'metadata.json': metadata, 'message_index.json': [] };
    const made = await acme.post('/api/contexts/import', { files });
    expect(made).toMatchObject({ status: 201, body: { config: {} } });
    expect((await acme.get(`/api/workers/${made.body.worker_id}`)).body.role).toBeNull();
    const theirs = await globex.post('/api/contexts/import', { files });
    expect(theirs.body.config).toEqual({ model: 'anthropic/claude-4' });
  });

  test('is shown with the settings of a worker and of a role whose jobs fail because of it', async () => {
    const { id } = (await acme.post('/api/workers', { name: 'w' })).body;
    const of = async (path: string) => (await acme.get(`${path}?include=effective`)).body.effective;
    const refused = 'The operator does not allow the model "simulated/large" for this tenant.';
    expect((await of(`/api/workers/${id}`)).not_allowed).toContain(refused);
    await acme.call('PATCH', `/api/workers/${id}`, { config: { model: 'simulated/small' } });
    expect(await of(`/api/workers/${id}`)).toMatchObject({ not_allowed: null, model: { value: 'simulated/small' } });
    await api.call('PATCH', '/api/tenants/acme', { allow: { roles: ['coder', 'my_*'] } }, ADMIN);
    const save = (definition: object) => acme.call('PUT', '/api/roles/my_own', definition);
    await until('the new list', async () => (await save({ max_steps: 2 })).status === 200);
    expect((await of('/api/roles/my_own')).not_allowed).toContain(refused);
    await save({ model: 'simulated/small' });
    expect((await of('/api/roles/my_own')).not_allowed).toBeNull();
  });

  test('leaves all faults in the list of the response', async () => {
    const config = { model: 'anthropic/c', tools: ['run_command'], mcp_servers: ['mail'] };
    const refused = await acme.post('/api/workers', { name: 'w', config });
    expect(refused.body.error.errors.map((one: Body) => [one.path, one.code])).toEqual([
      ['config.model', 'forbidden'],
      ['config.tools', 'forbidden'],
      ['config.mcp_servers', 'forbidden'],
    ]);
  });

  test('does not change the response to a repeated request', async () => {
    const key = { 'idempotency-key': 'again' };
    const made = await api.post('/api/tenants', { name: 'initech' }, ADMIN);
    expect(made.status).toBe(201);
    const keyOf = await api.post('/api/keys', { name: 'k', tenant: 'initech', scopes: ALL_SCOPES }, ADMIN);
    const initech = withKey(api, keyOf.body.key);
    const send = (headers = {}) => initech.post('/api/workers', { name: 'w', config: { tools: ['read'] } }, headers);
    const first = await send(key);
    expect(first.status).toBe(201);
    await api.call('PATCH', '/api/tenants/initech', { allow: { tools: [] } }, ADMIN);
    await until('the new list', async () => (await send()).status === 403);
    expect(await send(key)).toMatchObject({ status: 201, body: { id: first.body.id } });
  });
});

test('what the lists have is accepted, and everything for a tenant without lists', async () => {
  const config = { model: 'simulated/small-1', tools: ['read', 'files__get'], mcp_servers: ['files'] };
  for (const [method, path, payload] of await requestsWith({ role: 'coder', config }, acme))
    expect((await acme.call(method, path, payload)).status, `${method} ${path}`).toBeLessThan(300);
  const more = { model: 'anthropic/claude', tools: ['run_command'], mcp_servers: ['mail'] };
  for (const [method, path, payload] of await requestsWith({ role: 'king', config: more }, globex))
    expect((await globex.call(method, path, payload)).status, `${method} ${path}`).toBeLessThan(300);
  expect((await globex.post('/api/chat', { message: 'hi' })).status).toBe(202);
});

describe('the lists', () => {
  const worker = { name: 'w', config: { tools: ['run_command'] } };

  test('hold for keys that the API made, their sessions, and tokens', async () => {
    const key = (await acme.post('/api/keys', { name: 'made', scopes: ALL_SCOPES })).body.key;
    const scopes = ['read', 'run'];
    const token = (await acme.post('/api/tokens', { user: 'ann', scopes, expires_in_s: 60 })).body.token;
    const signedIn = await api.post('/api/session', { key });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `Bearer ${token}` },
      { cookie, 'sec-fetch-site': 'same-origin' },
    ])
      expect(await api.post('/api/workers', { name: 'w', role: 'king' }, headers)).toMatchObject(
        forbidden('role', /king/),
      );
  });

  test('come with the credential: no request reads them with a statement of its own', async () => {
    api.statements.length = 0;
    const tags = () => api.statements.filter((text) => /\ballow\b/.test(text)).map(tagOf);
    let sent = 0;
    await until('the credential is looked up twice', async () => {
      expect((await acme.post('/api/workers', { name: 'w', config: { tools: ['read'] } })).status).toBe(201);
      sent += 1;
      return tags().length >= 2;
    });
    expect(new Set(tags())).toEqual(new Set(['tenants.find_of_key']));
    expect(sent).toBeGreaterThan(2);
  });

  test('hold for an API without keys, within a second', async () => {
    const keyless = await openApi();
    await addProcess(keyless, SERVED);
    expect((await keyless.post('/api/workers', worker)).status).toBe(201);
    await keyless.call('PATCH', '/api/tenants/default', { allow: { tools: ['read'] } });
    await until('the new list', async () => (await keyless.post('/api/workers', worker)).status === 403);
    expect(await keyless.post('/api/workers', worker)).toMatchObject(forbidden('config.tools', /run_command/));
    await keyless.close();
  });
});
