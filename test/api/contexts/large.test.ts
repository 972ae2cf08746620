// A context of many megabytes is exported and imported as a stream: memory does not grow with it.
import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { get, request } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ids, openApi, type Api } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

const MESSAGES = 120;
const CHARACTERS = 160 * 1024;
const MEGABYTES = 18;
/** The memory in use is looked at each time this much has gone from the export to the import. */
const LOOK_BYTES = 3 * 1024 * 1024;

let api: Api;
let base: string;
let contextId: string;
beforeAll(async () => {
  api = await openApi();
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  contextId = (await api.worker()).context_id;
  const { db } = api.database;
  for (let seq = 1; seq <= MESSAGES; seq += 1) {
    const data = randomBytes((CHARACTERS * 3) / 4).toString('base64');
    await db.execute(sql`
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
      values (${ids.next()}, 1, ${contextId}, 'main', ${seq}, 'user', 'text', 'u1', 'completed',
        ${JSON.stringify([{ type: 'text', text: data }])}::jsonb, now())`);
  }
  await db.execute(sql`update contexts set head_seq = ${MESSAGES} where id = ${contextId}`);
}, 120_000);
afterAll(() => api.close());

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** In megabytes, without garbage. */
function memoryInUse(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

async function digestOf(id: string): Promise<{ hash: string; megabytes: number }> {
  const { body } = await fetch(`${base}/api/contexts/${id}/export`);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of body ?? []) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { hash: hash.digest('hex'), megabytes: bytes / 1024 / 1024 };
}

test('an export of one context is imported into another, byte for byte, with little memory', async () => {
  const original = await digestOf(contextId);
  expect(original.megabytes).toBeGreaterThan(MEGABYTES);
  const before = memoryInUse();
  const looks: number[] = [];
  const [out] = await once(get(`${base}/api/contexts/${contextId}/export`), 'response');
  const headers = { 'content-type': 'application/json' };
  const upload = request(`${base}/api/contexts/import`, { method: 'POST', headers });
  const answered = once(upload, 'response');
  await pipeline(
    out,
    async function* (chunks: AsyncIterable<Buffer>) {
      let bytes = 0;
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > (looks.length + 1) * LOOK_BYTES) looks.push(memoryInUse() - before);
        yield chunk;
      }
    },
    upload,
  );
  const [answer] = await answered;
  expect(answer.statusCode).toBe(201);
  const made = JSON.parse(await text(answer)).id;
  expect(looks).toHaveLength(6);
  expect(Math.max(...looks)).toBeLessThan(MEGABYTES / 2);
  expect(await digestOf(made)).toEqual(original);
}, 180_000);

test('a slow client pauses the read, and holds no connection to the database', async () => {
  const pages = (): number => api.statements.filter((text) => tagOf(text) === 'contexts.export_page').length;
  api.statements.length = 0;
  const asked = get(`${base}/api/contexts/${contextId}/export`);
  const [response] = await once(asked, 'response');
  await once(response, 'readable');
  await expect
    .poll(async () => {
      const before = pages();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return pages() - before;
    })
    .toBe(0);
  expect(pages()).toBeLessThan(40);
  const open = async () => [
    ...(await api.database.db.execute(
      sql`select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    )),
  ];
  await expect.poll(open).toEqual([]);
  response.destroy();
});
