// Names of models, tools and roles are checked against those that live processes published.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addProcess } from '../manual-worker.ts';
import { openApi, type Api } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

describe('where processes published their names', () => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi();
    await addProcess(api, { tools: ['read', 'write'], roles: ['coder'], models: ['simulated'] });
    await addProcess(api, {
      tools: ['mail'],
      roles: ['writer'],
      models: ['anthropic'],
      mcpServers: ['files', 'memory'],
    });
  });
  afterAll(() => api.close());

  test('a name that any of them supports is accepted', async () => {
    const config = {
      model: 'anthropic/claude',
      tools: ['read', 'mail', 'files__read'],
      mcp_servers: ['memory'],
    };
    const made = await api.post('/api/workers', { name: 'w', role: 'coder', config });
    expect(made.status).toBe(201);
    expect(made.body.role).toBe('coder');
    const coders = await api.get('/api/workers?role=coder');
    expect(coders.body.data.map((one: { id: string }) => one.id)).toEqual([made.body.id]);
    expect((await api.get('/api/workers?role=missing')).body.data).toEqual([]);
  });

  test.each([
    [{ config: { model: 'openai/gpt' } }, 'unknown_model', 'config.model', /Set OPENAI_API_KEY.*anthropic, simulated/],
    [{ config: { model: 'opnai/gpt' } }, 'unknown_model', 'config.model', /no known provider/],
    [
      { config: { model: 'gpt' } },
      'unknown_model',
      'config.model',
      /Write it as "anthropic\/gpt"\. Known.*anthropic, simulated/,
    ],
    [{ config: { tools: ['read', 'shred'] } }, 'unknown_tool', 'config.tools', /"shred".*mail, read, write/],
    [
      { config: { mcp_servers: ['files', 'rm -rf /'] } },
      'unknown_tool',
      'config.mcp_servers',
      /"rm -rf \/".*files, memory/,
    ],
    [{ role: 'king' }, 'unknown_role', 'role', /"king".*coder, writer/],
  ])('a name that none of them supports is refused, with the choices: %j', async (body, code, param, message) => {
    const { context_id, id } = await api.worker();
    const requests: [string, string, object][] = [
      ['POST', '/api/workers', { name: 'w', ...body }],
      ['POST', '/api/contexts', body],
      ['PATCH', `/api/workers/${id}`, body],
      ...('config' in body
        ? ([
            ['PATCH', `/api/contexts/${context_id}`, body],
            ['PUT', `/api/contexts/${context_id}`, body],
          ] as [string, string, object][])
        : []),
    ];
    for (const [method, path, payload] of requests) {
      const refused = await api.call(method, path, payload);
      expect(refused.status).toBe(422);
      expect(refused.body.error).toMatchObject({ code, param });
      expect(refused.body.detail).toMatch(message);
    }
  });

  test('a role is removed by null', async () => {
    const { body } = await api.post('/api/workers', { name: 'w', role: 'coder' });
    const patched = await api.call('PATCH', `/api/workers/${body.id}`, { role: null });
    expect(patched.body.role).toBeNull();
  });
});

describe('where no process ever published names', () => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi();
  });
  afterAll(() => api.close());

  test('only the shape of a model name is checked', async () => {
    const config = { model: 'openai-chat/some/model', tools: ['anything'] };
    expect((await api.post('/api/workers', { name: 'w', role: 'any', config })).status).toBe(201);
    for (const model of ['gpt', 'unknown/gpt', 'openai/', '/gpt']) {
      const refused = await api.post('/api/workers', { name: 'w', config: { model } });
      expect(refused.body.error).toMatchObject({ code: 'unknown_model', param: 'config.model' });
      expect(refused.body.detail).toMatch(/anthropic, openai, openai-chat, simulated/);
    }
  });

  test('the published names are read once a second at most', async () => {
    api.statements.length = 0;
    const began = performance.now();
    for (let n = 0; n < 20; n += 1) await api.worker({ model: 'simulated/x' });
    const seconds = Math.ceil((performance.now() - began) / 1_000);
    const asked = api.statements.filter((text) => tagOf(text) === 'processes.read_published');
    expect(asked.length).toBeLessThanOrEqual(seconds + 1);
  });
});
