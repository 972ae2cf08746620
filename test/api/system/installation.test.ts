// The installation as its operators see it: from rows and from published reports of processes, without a call to them.
import { sql } from 'drizzle-orm';
import { afterEach, expect, test } from 'vitest';
import type { About } from '../../../src/api/server/about.ts';
import { aboutOf } from '../../../src/platform/about.ts';
import { parseEnvironment } from '../../../src/config/config.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/json.ts';
import type { ToolDescriptor } from '../../../src/core/tools/tool.ts';
import { setThrottle } from '../../../src/db/processes/throttles.ts';
import { leaveFigures } from '../../../src/db/processes/figures.ts';
import type { Tool } from '../../../src/tools/registry/tool.ts';
import type { ToolServers } from '../../../src/tools/registry/servers.ts';
import { addProcess } from '../manual-worker.ts';
import { ABOUT, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
afterEach(() => api.close());

async function open(about: About = ABOUT, env: Record<string, string> = {}): Promise<Api> {
  api = await openApi(env, undefined, new Map(), async () => null, null, about);
  return api;
}

const system = async (): Promise<Body> => {
  const { status, body } = await api.get('/api/system');
  expect(status).toBe(200);
  return body;
};

function tool(name: string, more: Partial<Tool> = {}): Tool {
  const descriptor: ToolDescriptor = {
    name,
    description: `Does ${name}.`,
    input_schema: { type: 'object' },
    effect: 'none',
    on_unknown: 'tell',
    answered_by: 'tool',
  };
  return {
    descriptor,
    timeoutMs: null,
    validate: (value) => ({ ok: true, value }),
    execute: () => '',
    ...more,
  };
}

function serversWith(offered: Record<string, Tool[] | null>): ToolServers {
  return {
    names: Object.keys(offered),
    scopeOf: (name) => (name in offered ? 'shared' : null),
    use: () => true,
    offer: (name) => {
      const tools = offered[name];
      return tools === null || tools === undefined
        ? { kind: 'starting' }
        : { kind: 'tools', tools: tools.map(({ descriptor }) => descriptor) };
    },
    get: (name) =>
      Object.values(offered)
        .flatMap((tools) => tools ?? [])
        .find(({ descriptor }) => descriptor.name === name),
    start: async () => undefined,
    stop: async () => undefined,
  };
}

function gauge(name: string, value: number, labels: Record<string, string> = {}): Json {
  return { name: `nightshift_${name}`, help: '', type: 'gauge', values: [{ value, labels }] };
}

test('without a worker process: the knowledge of this process', async () => {
  await open();
  const { version, mode, default_model, providers, tools, mcp_servers, limits, processes } = await system();
  expect({ version, mode, default_model }).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    mode: 'laptop',
    default_model: 'simulated/default',
  });
  expect(providers.map(({ name, configured }: Body) => [name, configured])).toEqual([
    ['anthropic', false],
    ['openai', false],
    ['openai-chat', false],
    ['simulated', true],
  ]);
  expect([tools, mcp_servers, processes]).toEqual([[], [], []]);
  expect(limits).toMatchObject({ queued_inputs: 1_000, tenant_workers: null, archived_days: null });
});

test("worker processes report their names, their runs, and their providers' answers", async () => {
  await open();
  const [first, second, dead] = [
    await addProcess(api, { models: ['anthropic', 'simulated'], tools: ['far'], mcpServers: ['files'] }),
    await addProcess(api, { models: ['simulated'], mcpServers: ['files', 'mail'] }),
    await addProcess(api, { models: ['openai'], tools: ['gone'] }),
  ];
  const answered = Date.parse('2026-11-20T10:00:00Z') / 1_000;
  await leaveFigures(api.database.db, first, [
    gauge('slots', 100),
    gauge('slots_taken', 7),
    gauge('mcp_server_up', 0, { server: 'files' }),
    gauge('mcp_restarts_total', 3, { server: 'files' }),
    gauge('mcp_calls_total', 10, { server: 'files', outcome: 'completed' }),
    gauge('mcp_calls_total', -4, { server: 'files', outcome: 'completed' }),
    gauge('model_answered_timestamp_seconds', answered, { provider: 'anthropic' }),
    gauge('model_failed_timestamp_seconds', answered - 60, { provider: 'anthropic' }),
  ]);
  await leaveFigures(api.database.db, second, [
    gauge('mcp_server_up', 1, { server: 'files' }),
    gauge('mcp_calls_total', 2, { server: 'files', outcome: 'completed' }),
    gauge('mcp_calls_total', 1, { server: 'files', outcome: 'timed_out' }),
    gauge('mcp_server_up', 0, { server: 'mail' }),
    gauge('model_answered_timestamp_seconds', answered - 5, { provider: 'anthropic' }),
    gauge('slots', -1),
  ]);
  await api.database.db.execute(sql`update processes set dead_at = now() where id = ${dead}`);
  const until = Date.parse('2030-01-01T00:00:00Z');
  const throttled = { provider: 'openai', keyId: 'k' } as const;
  await setThrottle(
    api.database.db,
    { ...throttled, model: 'm-1' },
    {
      id: 'a',
      tenantId: await ensureTenant(api.database.db, 'other'),
      reason: 'rate_limited',
      since: 0,
      refusedAt: 0,
      until: until - 1_000,
    },
  );
  await setThrottle(
    api.database.db,
    { ...throttled, model: 'm-2' },
    { id: 'b', tenantId: DEFAULT_TENANT, reason: 'overloaded', since: 0, refusedAt: 0, until },
  );

  api.statements.length = 0;
  const body = await system();
  expect(api.statements).toHaveLength(2);
  const provider = (name: string) => body.providers.find((one: Body) => one.name === name);
  expect(provider('anthropic')).toEqual({
    name: 'anthropic',
    configured: true,
    answered_at: '2026-11-20T10:00:00.000Z',
    failed_at: '2026-11-20T09:59:00.000Z',
    throttled_until: null,
    throttle_reason: null,
    throttles: [],
  });
  expect(provider('openai')).toMatchObject({
    configured: false,
    answered_at: null,
    throttled_until: '2030-01-01T00:00:00.000Z',
    throttle_reason: 'overloaded',
    throttles: [
      { id: 'b', model: 'm-2', reason: 'overloaded', tenants: ['default'] },
      { id: 'a', model: 'm-1', reason: 'rate_limited', tenants: ['other'] },
    ],
  });
  expect(body.mcp_servers).toEqual([
    {
      name: 'files',
      state: 'up',
      scope: null,
      tools: null,
      last_failure: null,
      restarts: 3,
      calls: { completed: 12, timed_out: 1 },
      latency_ms: null,
    },
    {
      name: 'mail',
      state: 'down',
      scope: null,
      tools: null,
      last_failure: null,
      restarts: 0,
      calls: {},
      latency_ms: null,
    },
  ]);
  expect(body.tools).toEqual([
    { name: 'far', source: 'elsewhere', description: null, effect: null, approval: null, served: true },
  ]);
  expect(body.processes).toEqual([
    expect.objectContaining({ id: second, host: 'test', pid: 1, concurrency: null, running: null }),
    expect.objectContaining({
      id: first,
      version: '0',
      concurrency: 100,
      running: 7,
      providers: ['anthropic', 'simulated'],
      mcp_servers: ['files'],
      started_at: expect.any(String),
      heartbeat_at: expect.any(String),
    }),
  ]);
});

/** A histogram with these counts by bound, as prom-client gives it. */
function times(counts: Record<string, number>, labels: Record<string, string>): Json {
  const metricName = 'nightshift_mcp_call_seconds_bucket';
  const values = Object.entries(counts).map(([le, value]) => ({ metricName, value, labels: { ...labels, le } }));
  return { name: 'nightshift_mcp_call_seconds', help: '', type: 'histogram', values };
}

test('an MCP server has its last failure, with the process and the host, and the latency of its calls', async () => {
  await open();
  const [first, second] = [
    await addProcess(api, { mcpServers: ['files', 'mail'] }),
    await addProcess(api, { mcpServers: ['files'] }),
  ];
  const at = Date.parse('2026-11-20T10:00:00Z') / 1_000;
  const failed = (server: string, reason: string, code: string, time: number): Json =>
    gauge('mcp_server_failed_timestamp_seconds', time, { server, reason, code });
  await leaveFigures(api.database.db, first, [
    failed('files', 'exited', '137', at),
    failed('files', 'timed_out', '', at - 60),
    failed('mail', 'a reason of another release', '-1', at - 5),
    times({ '0.01': 50, '0.025': 50, '+Inf': 50 }, { server: 'files' }),
    times({ '0.01': 0, x: 7, '-1': 7, '+Inf': 0 }, { server: 'mail' }),
  ]);
  await leaveFigures(api.database.db, second, [
    failed('files', 'http_error', '503', at - 1),
    failed('files', 'lost', '', 1e300),
    times({ '0.01': 0, '0.025': 50, '+Inf': 50 }, { server: 'files' }),
  ]);
  api.statements.length = 0;
  const { mcp_servers: servers } = await system();
  expect(api.statements).toHaveLength(2);
  expect(servers).toMatchObject([
    {
      name: 'files',
      last_failure: { at: '2026-11-20T10:00:00.000Z', reason: 'exited', code: 137, process_id: first, host: 'test' },
      // The half of the calls is in the first bucket, up to 10 ms, and the others in the second one, up to 25 ms.
      latency_ms: { p50: 10, p95: 24 },
    },
    {
      name: 'mail',
      last_failure: { at: '2026-11-20T09:59:55.000Z', reason: 'other', code: null, process_id: first, host: 'test' },
      latency_ms: null,
    },
  ]);
});

test('a tenant sees of an MCP server nothing that other tenants cause, and no host', async () => {
  await open(ABOUT, { NIGHTSHIFT_API_KEYS: 'tenant-key:acme', NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator' });
  const id = await addProcess(api, { mcpServers: ['files'] });
  await leaveFigures(api.database.db, id, [
    gauge('mcp_server_up', 0, { server: 'files' }),
    gauge('mcp_server_failed_timestamp_seconds', 1e9, { server: 'files', reason: 'lost', code: '' }),
    times({ '0.01': 1, '+Inf': 1 }, { server: 'files' }),
  ]);
  const asSeenWith = async (key: string): Promise<Body> => {
    const { body } = await api.get('/api/system', { authorization: `Bearer ${key}` });
    return body.mcp_servers;
  };
  expect(await asSeenWith('the-key-of-the-operator')).toMatchObject([
    { last_failure: { reason: 'lost', host: 'test' }, restarts: 0, calls: {}, latency_ms: { p50: 5 } },
  ]);
  expect(await asSeenWith('tenant-key')).toEqual([
    {
      name: 'files',
      state: 'down',
      scope: null,
      tools: null,
      last_failure: null,
      restarts: null,
      calls: null,
      latency_ms: null,
    },
  ]);
});

test('unknown figures are left out', async () => {
  await open();
  const ids = [await addProcess(api), await addProcess(api), await addProcess(api)];
  const odd: Json[] = [
    'text',
    { nightshift_slots: 1 },
    [
      null,
      { name: 'nightshift_slots', help: '', type: 'gauge', values: [{ value: 1.5 }] },
      gauge('model_answered_timestamp_seconds', 1e300, { provider: 'simulated' }),
      gauge('model_failed_timestamp_seconds', -1, { provider: 'simulated' }),
    ],
  ];
  for (const [place, id] of ids.entries()) await leaveFigures(api.database.db, id, odd[place] ?? null);
  const body = await system();
  expect(body.processes.map((one: Body) => one.concurrency)).toEqual([null, null, null]);
  expect(body.providers.at(-1)).toMatchObject({ name: 'simulated', answered_at: null, failed_at: null });
});

test('models with a price are named with it, in dollars for a million tokens', async () => {
  await open();
  expect((await system()).prices).toEqual([]);
  await api.close();
  const prices = new Map([
    ['simulated/clerk', { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 }],
    ['anthropic/claude', { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 }],
  ]);
  await open({ ...ABOUT, prices });
  expect((await system()).prices).toEqual([
    { model: 'anthropic/claude', input: '3.00', output: '15.00', cache_read: '0.30', cache_write: '3.75' },
    { model: 'simulated/clerk', input: '0.00', output: '0.000001', cache_read: '0.00', cache_write: '0.00' },
  ]);
});

test('tools show their source, their effect and when they need approval', async () => {
  const assembled = {
    config: parseEnvironment({ ANTHROPIC_API_KEY: 'sk-secret', NIGHTSHIFT_API_KEYS: 'hunter2:acme' }),
    limits: { workerDepth: 3, archivedDays: 90 },
    prices: new Map(),
    providers: ['anthropic' as const],
    builtIn: [tool('sleep_until')],
    own: [tool('zap', { approval: () => 'always' }), tool('ban', { approval: 'deny' })],
    servers: serversWith({ files: [tool('files__read', { approval: 'always' })], slow: null }),
  };
  await open({ ...aboutOf(assembled), mode: 'production' });
  await addProcess(api, { tools: ['zap'], mcpServers: ['files'] });
  const body = await system();
  expect(body.mode).toBe('production');
  expect(body.tools.map(({ name, source, approval, served }: Body) => [name, source, approval, served])).toEqual([
    ['ban', 'own', 'deny', false],
    ['sleep_until', 'built_in', 'never', false],
    ['zap', 'own', 'by_call', true],
  ]);
  expect(body.tools[0]).toMatchObject({ description: 'Does ban.', effect: 'none' });
  expect(body.mcp_servers).toMatchObject([
    { name: 'files', tools: [{ name: 'files__read', source: 'mcp', approval: 'always' }] },
    { name: 'slow', state: 'unknown', tools: null },
  ]);
  expect(body.limits).toMatchObject({ depth: 3, archived_days: 90 });
  expect(JSON.stringify(body)).not.toMatch(/sk-secret|hunter2/);
});
