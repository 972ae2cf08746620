// A create that is repeated under its key is answered as before, even if no process supports its names any more.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../e2e/rig/until.ts';
import { addProcess } from '../manual-worker.ts';
import { openApi, type Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const CREATES = [
  { path: '/api/workers', body: { name: 'a', role: 'scout', config: { tools: ['look'] } } },
  { path: '/api/contexts', body: { title: 'a', config: { tools: ['look'] } } },
];

test('a repeated create is answered as before once its names are unsupported', async () => {
  const owner = await addProcess(api, { tools: ['look'], roles: ['scout'] });
  const made = await Promise.all(CREATES.map(({ path, body }) => api.post(path, body, { 'idempotency-key': path })));
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  await api.database.db.execute(sql`delete from processes where id = ${owner}`);
  await addProcess(api);
  for (const [place, { path, body }] of CREATES.entries()) {
    await until('no process to support it', async () => (await api.post(path, body)).status === 422);
    const again = await api.post(path, body, { 'idempotency-key': path });
    expect(again).toMatchObject({ status: 201, body: made[place]?.body });
    const other = await api.post(path, body, { 'idempotency-key': `new ${path}` });
    expect(other).toMatchObject({ status: 422 });
    expect(['unknown_tool', 'unknown_role']).toContain(other.body.error.code);
  }
});
