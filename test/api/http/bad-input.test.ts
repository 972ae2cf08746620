import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { openApi, type Api, type Body } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

let api: Api;
let worker: Body;
beforeAll(async () => {
  api = await openApi();
  worker = await api.worker();
});
afterAll(() => api.close());

const url = (path: string): string => path.replace(':w', worker.id).replace(':c', worker.context_id);

describe('addresses and methods outside the contract', () => {
  test.each([
    ['POST', '/api/workers/:w/tree', 'GET, HEAD'],
    ['PUT', '/api/workers/:w', 'GET, HEAD, PATCH, DELETE'],
    ['OPTIONS', '/api/workers', 'GET, HEAD, POST'],
    ['GET', '/api/contexts/:c/clear', 'POST'],
    ['HEAD', '/api/contexts/:c/clear', 'POST'],
    ['DELETE', '/healthz', 'GET, HEAD'],
  ])('%s %s is 405, and the answer names the methods that are', async (method, path, allow) => {
    const { status, headers, body } = await api.call(method, url(path), method === 'POST' ? {} : undefined);
    expect(status).toBe(405);
    expect(headers['allow']).toBe(allow);
    if (method !== 'HEAD') expect(body.error.code).toBe('invalid_request');
  });

  test.each(['GET', 'POST', 'HEAD'])('%s of an unknown address is 404', async (method) => {
    expect((await api.call(method, '/api/nothing')).status).toBe(404);
  });
});

describe('HEAD', () => {
  test.each([
    '/api/workers?limit=1',
    '/api/workers/:w',
    '/api/contexts/:c/messages',
    '/api/contexts/:c/events',
    '/api/contexts/:c/export',
    '/api/openapi.json',
    '/healthz',
  ])('%s is answered like GET, without a body', async (path) => {
    const { status, headers, body } = await api.call('HEAD', url(path));
    expect({ status, body }).toEqual({ status: 200, body: '' });
    expect(headers['content-type']).toBeTruthy();
  });

  test('an export is not read for it, and nothing fails', async () => {
    api.statements.splice(0);
    api.lines.splice(0);
    const pages = (): number => api.statements.map(tagOf).filter((tag) => tag === 'contexts.export_page').length;
    await api.get(url('/api/contexts/:c/export'));
    const ofGet = pages();
    expect(ofGet).toBeGreaterThan(0);
    await api.call('HEAD', url('/api/contexts/:c/export'));
    // What a HEAD request read would be read by now.
    await api.get(url('/api/contexts/:c/export'));
    expect(pages()).toBe(2 * ofGet);
    expect(api.lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  test.each(['/api/workers/nothing', `/api/contexts/${v7()}/events`, '/api/workers?limit=0'])(
    '%s is refused like GET',
    async (path) => {
      const { status } = await api.call('HEAD', path);
      expect(status).toBe(path.includes('limit') ? 422 : 404);
    },
  );
});

describe('a body', () => {
  test.each(['{', '', 'nul', '{"name":"a"}}', "{'name': 'a'}", '[1,]', '{"name": "\u0001"}'])(
    'that is not JSON is 400, a missing one is named: %j',
    async (text) => {
      const { status, body } = await api.post('/api/workers', text);
      expect(status).toBe(text === '' ? 422 : 400);
      expect(body.error).toMatchObject({ code: 'invalid_request', param: text === '' ? 'name' : null });
    },
  );

  test('that is not UTF-8 is 400', async () => {
    const response = await api.app.inject({
      method: 'POST',
      url: '/api/workers',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      payload: Buffer.from([...Buffer.from('{"name":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
    });
    expect(response.statusCode).toBe(400);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense', 'multipart/form-data'])(
    'of type %s is 415',
    async (type) => {
      const { status, body } = await api.post('/api/workers', '{"name":"a"}', { 'content-type': type });
      expect(status).toBe(415);
      expect(body.error.code).toBe('invalid_request');
    },
  );

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON'])('of type %s is accepted', async (type) => {
    expect((await api.post('/api/workers', '{"name":"a"}', { 'content-type': type })).status).toBe(201);
  });

  test('with a number of too many digits is 422', async () => {
    const ofDigits = (digits: number) =>
      api.post(url('/api/contexts/:c/messages'), `{"content":"x","metadata":{"n":0.${'1'.repeat(digits)}}}`);
    expect((await ofDigits(998)).status).toBe(202);
    const { status, body } = await ofDigits(999);
    expect([status, body.error.message]).toEqual([422, 'The body holds a number of more than 1000 digits.']);
    const content = '1'.repeat(2_000);
    expect((await api.post(url('/api/contexts/:c/messages'), { content })).status).toBe(202);
  });

  test('nested too deeply is 422', async () => {
    for (const depth of [101, 100_000]) {
      const text = `{"content":"x","metadata":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
      const { status, body } = await api.post(url('/api/contexts/:c/messages'), text);
      expect(status).toBe(422);
      expect(body.error.code).toBe('invalid_request');
    }
  });

  test('of too many values is 422, before they are built', async () => {
    for (const text of [`[${'[],'.repeat(100_000)}[]]`, `{"a":[${'1,'.repeat(100_001)}1]}`]) {
      const { status, body } = await api.post('/api/workers', text);
      expect(status).toBe(422);
      expect(body.error.message).toContain('100000 values');
    }
    const text = JSON.stringify({ content: `${'[{,'.repeat(200_000)}\\"\\` });
    expect((await api.post(url('/api/contexts/:c/messages'), text)).status).toBe(202);
  });

  test('may be as large as its address allows, and no larger', async () => {
    const padded = (bytes: number): string => `{"name":"a"}${' '.repeat(bytes - 12)}`;
    expect((await api.post('/api/contexts', padded(1024 * 1024))).status).toBe(201);
    const over = await api.post('/api/contexts', padded(1024 * 1024 + 1));
    expect(over.status).toBe(413);
    expect(over.body.error).toMatchObject({
      code: 'payload_too_large',
      message: 'The body is larger than 1024 KB, the limit of this route.',
    });
    expect((await api.post('/api/session', { key: 'x'.repeat(4 * 1024) })).status).toBe(413);
    const long = 'x'.repeat(2 * 1024 * 1024);
    expect((await api.post(url('/api/contexts/:c/messages'), { content: long })).status).toBe(202);
    expect((await api.post('/api/chat', { message: long })).status).toBe(202);
    expect((await api.post('/api/workers', { name: 'a', input: { content: long } })).status).toBe(201);
  });

  test('contains settings and metadata of 64 KB at most, also where they were merged', async () => {
    const half = 'x'.repeat(40 * 1024);
    const path = url('/api/workers/:w');
    expect((await api.call('PATCH', path, { config: { system_prompt: half } })).status).toBe(200);
    const merged = await api.call('PATCH', path, { config: { pinned: [{ title: 'a', text: half }] } });
    expect([merged.status, merged.body.error.param]).toEqual([422, 'config']);
    expect((await api.call('PATCH', path, { config: { system_prompt: null } })).status).toBe(200);
    for (const [to, body, param] of [
      ['/api/workers', { name: 'a', config: { system_prompt: half + half } }, 'config'],
      [url('/api/contexts/:c/messages'), { content: 'x', metadata: { half, other: half } }, 'metadata'],
    ] as const) {
      const answer = await api.post(to, body);
      expect([answer.status, answer.body.error.param]).toEqual([422, param]);
    }
    expect((await api.call('PUT', '/api/roles/large', { system_prompt: half + half })).status).toBe(422);
  });

  test('with members named like built-in properties does no harm, and comes back', async () => {
    const text = '{"content":"x","metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":1}}}';
    const posted = await api.post(url('/api/contexts/:c/messages'), text);
    expect(posted.status).toBe(202);
    expect('polluted' in {}).toBe(false);
    const response = await api.app.inject({
      url: `/api/jobs/${posted.body.job_id}`,
      headers: { host: 'localhost' },
    });
    expect(JSON.parse(response.body).metadata).toEqual(JSON.parse(text).metadata);
    const refused = await api.post('/api/workers', '{"name":"a","__proto__":{"role":"x"}}');
    expect(refused.body.error).toMatchObject({ code: 'invalid_request', param: '__proto__' });
  });

  test.each([
    ['POST', '/api/workers', { name: 5 }, 'name'],
    ['POST', '/api/workers', { name: '' }, 'name'],
    ['POST', '/api/workers', { name: 'x'.repeat(201) }, 'name'],
    ['POST', '/api/workers', { name: 'a\0b' }, 'name'],
    ['POST', '/api/workers', { name: 'a\ud800b' }, 'name'],
    ['POST', '/api/workers', { name: 'a', role: 'a\0b' }, 'role'],
    ['POST', '/api/workers', { name: 'a', colour: 'red' }, 'colour'],
    ['POST', '/api/workers', [], null],
    ['POST', '/api/workers', 'null', null],
    ['POST', '/api/workers', '"text"', null],
    ['POST', '/api/workers', { name: 'a', config: { max_steps: 0 } }, 'config.max_steps'],
    ['POST', '/api/workers', { name: 'a', config: { max_steps: '5' } }, 'config.max_steps'],
    ['POST', '/api/workers', { name: 'a', config: { max_steps: 1.5 } }, 'config.max_steps'],
    ['POST', '/api/workers', { name: 'a', config: { max_steps: null } }, 'config.max_steps'],
    ['POST', '/api/workers', { name: 'a', config: { streaming: 'yes' } }, 'config.streaming'],
    ['POST', '/api/workers', { name: 'a', config: { tools: 'all' } }, 'config.tools'],
    ['POST', '/api/workers', { name: 'a', config: { tools: ['a', 'a'] } }, 'config.tools'],
    ['POST', '/api/workers', { name: 'a', config: { tools: [5] } }, 'config.tools.0'],
    ['POST', '/api/workers', { name: 'a', config: { mode: 'fly' } }, 'config.mode'],
    ['POST', '/api/workers', { name: 'a', config: { temperature: 1 } }, 'config.temperature'],
    ['POST', '/api/workers', { name: 'a', config: { parameters: [] } }, 'config.parameters'],
    ['POST', '/api/workers', { name: 'a', config: { parameters: { model: 'x' } } }, 'config.parameters.model'],
    ['POST', '/api/workers', { name: 'a', config: { parameters: { n: 2 } } }, 'config.parameters.n'],
    ...[
      ['openai/x', 'previous_response_id'],
      ['openai/x', 'conversation'],
      ['openai/x', 'prompt'],
      ['openai/x', 'service_tier'],
      ['openai-chat/x', 'web_search_options'],
      ['openai-chat/x', 'stream_options'],
      ['anthropic/x', 'container'],
      ['anthropic/x', 'mcp_servers'],
      ['anthropic/x', 'reasoning'],
    ].map(([model = '', name = '']): [string, string, unknown, string] => [
      'POST',
      '/api/contexts',
      { config: { model, parameters: { temperature: 1, [name]: 'x' } } },
      `config.parameters.${name}`,
    ]),
    ['POST', '/api/workers', { name: 'a', config: { context_limit: 999 } }, 'config.context_limit'],
    ['POST', '/api/workers', { name: 'a', config: { compaction: { type: 'zip' } } }, 'config.compaction.type'],
    ['POST', '/api/workers', { name: 'a', config: { compaction: { threshold: 0 } } }, 'config.compaction.threshold'],
    ['POST', '/api/workers', { name: 'a', config: { compaction: { keep_turns: -1 } } }, 'config.compaction.keep_turns'],
    ['POST', '/api/workers', { name: 'a', config: { pinned: [{ title: 'a' }] } }, 'config.pinned.0.text'],
    [
      'POST',
      '/api/workers',
      { name: 'a', config: { pinned: Array.from({ length: 21 }, () => ({ title: 'a', text: 'b' })) } },
      'config.pinned',
    ],
    ['POST', '/api/workers', { name: 'a', config: { pinned: [{ title: 'a', text: 'x'.repeat(100_001) }] } }, 'config'],
    ['POST', '/api/workers', { name: 'a', input: 'x' }, 'input'],
    ['POST', '/api/workers', { name: 'a', input: null }, 'input'],
    ['POST', '/api/workers', { name: 'a', input: {} }, 'input.content'],
    ['POST', '/api/workers', { name: 'a', input: { content: [{ type: 'text' }] } }, 'input.content.0.text'],
    ['POST', '/api/workers', { name: 'a', input: { content: 'x', priority: 11 } }, 'input.priority'],
    ['POST', '/api/workers', { name: 'a', input: { content: 'x', deadline: 'soon' } }, 'input.deadline'],
    [
      'POST',
      '/api/workers',
      { name: 'a', input: { content: 'x', deadline: '9999-12-31T23:59:59-23:00' } },
      'input.deadline',
    ],
    ['POST', '/api/workers', { name: 'a', input: { content: 'x', delivery: 'queue' } }, 'input.delivery'],
    ['POST', '/api/workers', { name: 'a', input: { content: 'x', branch: 'main' } }, 'input.branch'],
    ['POST', '/api/contexts', { input: { content: 'x' } }, 'input'],
    ['POST', '/api/contexts/:c/compact', { type: 'none' }, 'type'],
    ['POST', '/api/contexts/:c/compact', { keep_turns: 1.5 }, 'keep_turns'],
    ['POST', '/api/contexts/:c/compact', { threshold: 0.5 }, 'threshold'],
    ['PATCH', '/api/workers/:w', { name: null }, 'name'],
    ['PATCH', '/api/workers/:w', { config: null }, 'config'],
    ['PATCH', '/api/workers/:w', { config: { parameters: { store: true } } }, 'config.parameters.store'],
    ['POST', '/api/workers', { name: 'w', config: { idle_timeout_s: 0 } }, 'config.idle_timeout_s'],
    ['POST', '/api/workers', { name: 'w', config: { idle_timeout_s: 1.5 } }, 'config.idle_timeout_s'],
    ['PATCH', '/api/contexts/:c', { config: { idle_timeout_s: 1e12 } }, 'config.idle_timeout_s'],
    ['PATCH', '/api/contexts/:c', { title: 'a\0b' }, 'title'],
    ['PATCH', '/api/contexts/:c', { title: 5 }, 'title'],
    ['POST', '/api/contexts', { title: 'a\ud800' }, 'title'],
    ['POST', '/api/contexts', { worker: { nom: 'x' } }, 'worker.nom'],
    ['POST', '/api/contexts/:c/messages', {}, 'content'],
    ['POST', '/api/contexts/:c/messages', { content: '' }, 'content'],
    ['POST', '/api/contexts/:c/messages', { content: [] }, 'content'],
    ['POST', '/api/contexts/:c/messages', { content: 5 }, 'content'],
    ['POST', '/api/contexts/:c/messages', { content: null }, 'content'],
    ['POST', '/api/contexts/:c/messages', { content: ['x'] }, 'content.0'],
    ['POST', '/api/contexts/:c/messages', { content: [{ text: 'x' }] }, 'content.0.type'],
    ['POST', '/api/contexts/:c/messages', { content: [{ type: 'text' }] }, 'content.0.text'],
    ['POST', '/api/contexts/:c/messages', { content: [{ type: 'text', text: 5 }] }, 'content.0.text'],
    [
      'POST',
      '/api/contexts/:c/messages',
      { content: [{ type: 'text', text: 'x', provider: {} }] },
      'content.0.provider',
    ],
    ['POST', '/api/contexts/:c/messages', { content: [{ type: 'thinking', text: 'x' }] }, 'content.0.type'],
    ['POST', '/api/contexts/:c/messages', { content: [{ type: 'tool_result' }] }, 'content.0.type'],
    [
      'POST',
      '/api/contexts/:c/messages',
      { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'aGk=' } }] },
      'content.0.source.media_type',
    ],
    [
      'POST',
      '/api/contexts/:c/messages',
      {
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'no base64!' } }],
      },
      'content.0.source.data',
    ],
    [
      'POST',
      '/api/contexts/:c/messages',
      { content: [{ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }] },
      'content.0.source.url',
    ],
    ['POST', '/api/contexts/:c/messages', { content: 'x', delivery: 'pigeon' }, 'delivery'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', branch: 5 }, 'branch'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', metadata: [] }, 'metadata'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', max_steps: 0 }, 'max_steps'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', max_steps: 3_000_000_000 }, 'max_steps'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', deadline: 'soon' }, 'deadline'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', deadline: 1_700_000_000 }, 'deadline'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', deadline: '9999-12-31T23:59:59-23:00' }, 'deadline'],
    ['POST', '/api/contexts/:c/messages', { content: 'x', deadline: '2030-06-30T23:59:60Z' }, 'deadline'],
    ['POST', '/api/contexts/:c/jobs', { content: 'x' }, 'content'],
  ] as [string, string, unknown, string | null][])(
    '%s %s with %j is refused by field name',
    async (method, path, body, param) => {
      const { status, body: problem } = await api.call(method, url(path), body);
      expect(status).toBe(422);
      expect(problem.error).toMatchObject({ code: 'invalid_request', type: 'invalid_request_error', param });
      expect(problem.detail).toBe(problem.error.message);
    },
  );

  test('with a cancel reason that cannot be stored is refused', async () => {
    for (const body of [{ reason: 'a\0b' }, { wait_ms: 60_001 }, { wait_ms: '5' }, { mode: 'hard' }]) {
      expect((await api.post(`/api/jobs/${v7()}/cancel`, body)).status).toBe(422);
    }
  });
});

describe('an id', () => {
  const paths = [
    ['GET', '/api/workers/:id'],
    ['PATCH', '/api/workers/:id'],
    ['DELETE', '/api/workers/:id'],
    ['POST', '/api/workers/:id/stop'],
    ['POST', '/api/workers/:id/start'],
    ['POST', '/api/workers/:id/messages'],
    ['GET', '/api/contexts/:id'],
    ['PATCH', '/api/contexts/:id'],
    ['PUT', '/api/contexts/:id'],
    ['DELETE', '/api/contexts/:id'],
    ['GET', '/api/contexts/:id/state'],
    ['GET', '/api/contexts/:id/messages'],
    ['POST', '/api/contexts/:id/messages'],
    ['POST', '/api/contexts/:id/jobs'],
    ['POST', '/api/contexts/:id/clear'],
    ['GET', '/api/contexts/:id/turns'],
    ['GET', '/api/contexts/:id/messages/:id'],
    ['GET', '/api/jobs/:id'],
    ['POST', '/api/jobs/:id/cancel'],
  ] as const;

  test.each(paths)('%s %s that is unknown or malformed is 404', async (method, path) => {
    const body = path.endsWith('messages') ? { content: 'x' } : method === 'PUT' ? { config: {} } : undefined;
    for (const id of [v7(), 'me', '0', '%00', 'x'.repeat(300), "';drop table jobs;--", 'urn:uuid:' + v7()]) {
      const answer = await api.call(
        method,
        path.replaceAll(':id', encodeURIComponent(id)),
        method === 'GET' ? undefined : body,
      );
      expect(answer.status).toBe(404);
      expect(answer.body.error.code).toBe('not_found');
    }
  });

  test('in capitals is the same id', async () => {
    expect((await api.get(`/api/workers/${worker.id.toUpperCase()}`)).body.id).toBe(worker.id);
  });

  test('in a URL that cannot be decoded is 400', async () => {
    const { status, body } = await api.get('/api/workers/%E0%A4%A');
    expect(status).toBe(400);
    expect(body.error.code).toBe('invalid_request');
  });
});

test('internal errors are not shown', async () => {
  const broken = { ...api.database, db: null as never, read: null as never };
  // With the admin key, so that access needs no query.
  const adminKey = 'the-key-of-the-operator';
  const other = await openApi({ NIGHTSHIFT_ADMIN_KEY: adminKey }, 'postgres://none:nothing@127.0.0.1:1/none');
  try {
    Object.assign(other.database, broken);
    const { status, headers, body } = await other.get('/api/tenants', { authorization: `Bearer ${adminKey}` });
    expect(status).toBe(500);
    expect(body).toMatchObject({
      status: 500,
      detail:
        'An unexpected error occurred in the API. Its log has the details under the x-request-id of this response.',
      error: { code: 'internal' },
    });
    const line = other.lines.find((one) => one['msg'] === 'request failed with an unexpected error');
    expect(line).toMatchObject({ level: 50, reqId: headers['x-request-id'] });
  } finally {
    await other.app.close();
  }
});
