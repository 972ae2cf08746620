// A submit that does not get the lock of its context is answered with 503 and `retry-after`, and has written nothing.
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../../src/api/server/server.ts';
import { requestLimits } from '../../../src/platform/services/pool-limits.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { openApi, type Api, type Body } from '../harness.ts';
import { listen } from './listening.ts';

let api: Api;
let database: Database;
let server: Server;
const log: Body[] = [];
beforeAll(async () => {
  api = await openApi();
  // One connection: a request that kept it while it waits would keep it from all others.
  database = openDatabase(api.databaseUrl, { max: 1, ...requestLimits({ requestMs: 1_000 }) });
  const logger = pino({ level: 'warn' }, { write: (line) => void log.push(JSON.parse(line)) });
  server = await listen(api, { database, logger });
});
afterAll(async () => {
  await server.close();
  await database.close();
  await api.close();
});

const submit = (contextId: string, key: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}/api/contexts/${contextId}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...key },
    body: JSON.stringify({ content: 'x' }),
  });

test.each([
  ['as one statement', {}],
  ['in a transaction, under a key', { 'idempotency-key': 'locked' }],
])('%s', async (_, key) => {
  const { context_id: contextId } = await api.worker();
  const other = await api.worker();
  log.splice(0);
  await api.database.transaction(async (tx) => {
    await tx.execute(sql`select id from contexts where id = ${contextId} for update`);
    const [locked, free] = await Promise.all([submit(contextId, key), submit(other.context_id)]);
    expect(free.status).toBe(202);
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await locked.json()).toMatchObject({ error: { code: 'unavailable', type: 'overloaded_error' } });
  });
  // The lock caused the error, not the timeout of the request.
  expect(JSON.stringify(log)).toContain('lock timeout');
  expect((await api.get(`/api/jobs?context_id=${contextId}`)).body.data).toEqual([]);
  expect((await submit(contextId, key)).status).toBe(202);
  expect((await api.get(`/api/jobs?context_id=${contextId}`)).body.data).toHaveLength(1);
});
