// The catalogue of tools, and what a tenant used of them: from rows whose number does not grow with history.
import { sql } from 'drizzle-orm';
import { afterEach, expect, test } from 'vitest';
import { storeUse, forgetUse, readUse } from '../../../src/db/calls/tool-use.ts';
import { keepToolList } from '../../../src/db/model-calls/tool-lists.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type TenantId, type ToolCallId } from '../../../src/core/ids.ts';
import { noUse, placeOf, type ToolUse } from '../../../src/core/tools/tool-use.ts';
import { parseEnvironment } from '../../../src/config/config.ts';
import { aboutOf } from '../../../src/platform/about.ts';
import { NO_SERVERS } from '../../../src/tools/registry/servers.ts';
import type { Tool } from '../../../src/tools/registry/tool.ts';
import { explaining } from '../../services/explaining.ts';
import { addProcess } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
afterEach(() => api.close());

const OPERATOR = { authorization: 'Bearer the-key-of-the-operator' };
const KEYS = { NIGHTSHIFT_API_KEYS: 'a:acme,b:bolt', NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator' };
const ofAcme = { authorization: 'Bearer a' };
const ofBolt = { authorization: 'Bearer b' };

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const spec = (name: string, description = `Does ${name}.`) => ({ name, description, input_schema: { type: 'object' } });

const used = (more: Partial<ToolUse> = {}): ToolUse => ({ ...noUse(), completed: 1, lastAt: AT, ...more });

const failure = (code: string, at: number) => ({
  at,
  code,
  context_id: '0190a000-0000-7000-8000-000000000001' as ContextId,
  job_id: '0190a000-0000-7000-8000-000000000002' as JobId,
  tool_call_id: '0190a000-0000-7000-8000-000000000003' as ToolCallId,
});

const lasting = (...ms: number[]): number[] => {
  const times = noUse().times;
  for (const one of ms) times[placeOf(one)] = (times[placeOf(one)] ?? 0) + 1;
  return times;
};

async function find(name: string, headers?: Record<string, string>): Promise<Body> {
  const { status, body } = await api.get('/api/tools', headers);
  expect(status).toBe(200);
  return body.data.find((tool: Body) => tool.name === name);
}

test('tools have their schema, timeout, effect and approval, and the operator sees how many processes serve them', async () => {
  const descriptor = { ...spec('look'), effect: 'once', on_unknown: 'tell', answered_by: 'tool' } as const;
  const look: Tool = {
    descriptor,
    approval: 'always',
    timeoutMs: 700,
    validate: (value) => ({ ok: true, value }),
    execute: () => '',
  };
  const mail: Tool = { ...look, descriptor: { ...descriptor, ...spec('mail') }, timeoutMs: null };
  const config = parseEnvironment({});
  const parts = { config, limits: {}, prices: new Map(), builtIn: [mail], own: [look], servers: NO_SERVERS };
  const about = { ...aboutOf({ ...parts, providers: [] }), mode: 'laptop' } as const;
  api = await openApi(KEYS, undefined, new Map(), async () => null, null, about);
  await addProcess(api, { tools: ['look', 'far'] });
  expect(await find('look', ofAcme)).toEqual({
    name: 'look',
    source: 'own',
    server: null,
    description: 'Does look.',
    input_schema: { type: 'object' },
    effect: 'once',
    approval: 'always',
    answered_by: 'tool',
    timeout_ms: 700,
    served: true,
    processes: null,
  });
  expect(await find('far', OPERATOR)).toMatchObject({ source: 'elsewhere', input_schema: null, processes: 1 });
  expect(await find('mail', OPERATOR)).toMatchObject({
    source: 'built_in',
    timeout_ms: about.limits.tool_timeout_ms,
    served: false,
    processes: 0,
  });
});

test('tools that were sent to models of the tenant are listed for it, and for no other', async () => {
  api = await openApi(KEYS);
  const acme = await ensureTenant(api.database.db, 'acme');
  await keepToolList(api.database.db, acme, 'old', [spec('open_tab', 'Old text.')]);
  await api.database.db.execute(sql`update tool_lists set used_at = now() - interval '1 day'`);
  await keepToolList(api.database.db, acme, 'new', [spec('open_tab', 'New text.'), spec('notes__read')]);
  expect(await find('open_tab', ofAcme)).toMatchObject({
    source: 'sent',
    description: 'New text.',
    input_schema: { type: 'object' },
    served: false,
  });
  // No process has a server of this name.
  expect(await find('notes__read', ofAcme)).toMatchObject({ source: 'sent', server: null });
  expect(await find('open_tab', ofBolt)).toBeUndefined();
  expect(await find('open_tab', OPERATOR)).toBeUndefined();
});

test('what processes counted adds up, for the tenant alone', async () => {
  api = await openApi(KEYS);
  const { db } = api.database;
  const acme = await ensureTenant(db, 'acme');
  const bolt = await ensureTenant(db, 'bolt');
  const first = used({ completed: 2, failed: 2, codes: { timed_out: 1, 'it-broke': 1 }, times: lasting(4, 4, 90, 90) });
  const failures = [1, 2, 3, 4].map((n) => failure('timed_out', AT - n));
  await storeUse(db, [{ tenantId: acme, tool: 'look', use: { ...first, failures } }]);
  const second = used({
    completed: 0,
    failed: 1,
    denied: 3,
    codes: { timed_out: 1 },
    times: lasting(90),
    lastAt: AT + 1,
  });
  await storeUse(db, [
    {
      tenantId: acme,
      tool: 'look',
      use: { ...second, failures: [failure('denied', AT + 2), failure('timed_out', AT + 1)] },
    },
    { tenantId: acme, tool: 'mail', use: used() },
    { tenantId: bolt, tool: 'look', use: used({ completed: 50 }) },
  ]);
  const { status, body } = await api.get('/api/tools/use', ofAcme);
  expect(status).toBe(200);
  expect(body.data.map(({ name, calls }: Body) => [name, calls])).toEqual([
    ['look', 8],
    ['mail', 1],
  ]);
  expect(body.data[0]).toMatchObject({
    completed: 2,
    failed: 3,
    denied: 3,
    expired: 0,
    unknown: 0,
    codes: { timed_out: 2, 'it-broke': 1 },
    last_called_at: new Date(AT + 1).toISOString(),
  });
  expect(body.data[0].duration_ms.p95).toBeGreaterThan(50);
  expect(body.data[0].duration_ms.p50).toBeLessThanOrEqual(100);
  expect(body.data[0].failures.map(({ at }: Body) => Date.parse(at) - AT)).toEqual([2, 1, -1, -2, -3]);
  expect(body.data[1].duration_ms).toBeNull();
  expect((await api.get('/api/tools/use', OPERATOR)).status).toBe(403);
  expect((await api.get('/api/tools/use?hours=169', ofAcme)).status).toBe(422);
});

test('an older hour counts only in a longer range, and is deleted after seven days', async () => {
  api = await openApi();
  const { db } = api.database;
  await storeUse(db, [{ tenantId: DEFAULT_TENANT, tool: 'look', use: used() }]);
  await db.execute(sql`update tool_use set hour = hour - interval '30 hours'`);
  expect((await api.get('/api/tools/use')).body.data).toEqual([]);
  expect((await api.get('/api/tools/use?hours=168')).body.data).toMatchObject([{ name: 'look', calls: 1 }]);
  expect(await forgetUse(db, 10)).toBe(0);
  await db.execute(sql`update tool_use set hour = hour - interval '7 days'`);
  expect(await forgetUse(db, 10)).toBe(1);
});

test('a read of use looks at no row of another tenant or of an older hour', async () => {
  api = await openApi();
  const { db } = api.database;
  await db.execute(sql`
    insert into tool_use select t, date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 'tool' || n, 1, 0, 0, 0, 0,
      '{}', '{1}', now(), '[]' from generate_series(1, 20) t, generate_series(0, 60) h, generate_series(1, 5) n`);
  const plans: string[] = [];
  await readUse(explaining(db, plans), 7 as TenantId, 24);
  expect(plans[0]).toMatch(/(Index|Bitmap).*tool_use_tenant_id_hour_tool_pk/);
  expect(plans[0]).toMatch(/actual rows=120\b|rows=120(\.00)? loops=1/);
  expect(plans[0]).not.toMatch(/Seq Scan on tool_use/);
});
