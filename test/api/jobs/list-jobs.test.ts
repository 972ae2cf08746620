// The list of jobs: searched by text, and sorted by what jobs took.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { SCANNED } from '../../../src/db/read/jobs/find-jobs.ts';
import { sql } from 'drizzle-orm';
import { DEFAULT_TENANT, type ProcessId } from '../../../src/core/ids.ts';
import { addProcess, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const post = async (worker: Body, content: unknown, extra: object = {}): Promise<string> =>
  (await api.post(`/api/contexts/${worker.context_id}/messages`, { content, ...extra })).body.job_id;

const list = async (query: Record<string, string>): Promise<Body> =>
  (await api.get(`/api/jobs?${new URLSearchParams(query).toString()}`)).body;
const idsOf = async (query: Record<string, string>): Promise<string[]> =>
  (await list(query)).data.map(({ id }: Body) => id);

/** All pages. */
async function allOf(query: Record<string, string>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Body = await list({ ...query, ...(cursor !== '' && { cursor }) });
    ids.push(...page.data.map(({ id }: Body) => id));
    cursor = page.next_cursor;
  }
  return ids;
}

test('a text is found in the input, the title, the worker, the user and the ids, whatever its case', async () => {
  const word = `Word${v7()}`;
  const { body: named } = await api.post('/api/workers', { name: `ada ${word}` });
  const { body: titled } = await api.post('/api/contexts', { title: `the ${word} of all` });
  const plain = await api.worker();
  const ofWorker = await post(named, 'x');
  const ofTitle = await post({ context_id: titled.id }, 'x');
  const ofInput = await post(plain, [
    { type: 'text', text: 'first\0' },
    { type: 'text', text: `${'long '.repeat(200)} ${word}` },
  ]);
  const ofUser = await post(plain, 'x', { user: word });
  await post(plain, 'x');
  const found = [ofUser, ofInput, ofTitle, ofWorker];
  expect(await idsOf({ q: word.toUpperCase() })).toEqual(found);
  expect(await allOf({ q: word, limit: '1' })).toEqual(found);
  expect(await allOf({ q: word, limit: '1', sort: '-created' })).toEqual(found.toReversed());
  expect(await idsOf({ q: ofInput.slice(-12) })).toEqual([ofInput]);
  expect(await idsOf({ q: plain.context_id })).toHaveLength(3);
  expect(await idsOf({ q: word, user: word })).toEqual([ofUser]);
  expect(await idsOf({ q: `${word}%` })).toEqual([]);
});

test('jobs are sorted by cost, tokens or duration, in both directions and page by page', async () => {
  const batch = v7();
  const ids: string[] = [];
  for (const cost of [20_000, 5_000_000, 100]) {
    const worker = await api.worker();
    ids.push(await post(worker, 'x', { metadata: { batch } }));
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.complete('y', cost);
  }
  const [middle = '', dear = '', cheap = ''] = ids;
  const unpriced = await post(await api.worker(), 'x', { metadata: { batch } });
  const filter = { metadata: JSON.stringify({ batch }) };
  const byCost = [dear, middle, cheap, unpriced];
  expect(await idsOf({ ...filter, sort: 'cost' })).toEqual(byCost);
  expect(await allOf({ ...filter, sort: 'cost', limit: '1' })).toEqual(byCost);
  expect(await allOf({ ...filter, sort: '-cost', limit: '1' })).toEqual(byCost.toReversed());
  await api.database.db.execute(sql`update jobs set finished_at = started_at + interval '1 hour' where id = ${cheap}`);
  const byDuration = await idsOf({ ...filter, sort: 'duration' });
  expect([byDuration[0], byDuration.at(-1)]).toEqual([cheap, unpriced]);
  expect((await idsOf({ ...filter, sort: 'tokens' })).at(-1)).toBe(unpriced);
  expect(await idsOf({ ...filter, sort: 'created' })).toEqual([unpriced, cheap, dear, middle]);
  expect(await allOf({ ...filter, sort: '-created', limit: '1' })).toEqual([middle, dear, cheap, unpriced]);
});

test.each([
  ['sort', { sort: 'name' }],
  ['q', { q: '' }],
  ['q', { q: 'x'.repeat(201) }],
  ['cursor', { sort: 'cost', cursor: Buffer.from(JSON.stringify([v7()])).toString('base64url') }],
])('a wrong %s is refused', async (param, query) => {
  const refused = await api.get(`/api/jobs?${new URLSearchParams(query).toString()}`);
  expect([refused.status, refused.body.error.param]).toEqual([422, param]);
});

test('a search goes on behind the jobs of one page, also from a page without matches', async () => {
  const worker = await api.worker();
  const old = await post(worker, 'a needle in the hay');
  await api.database.db.execute(sql`insert into jobs
      (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, started_at, finished_at)
    select gen_random_uuid(), ${DEFAULT_TENANT}, ${worker.context_id}, ${worker.id}, 'retry', 'main', 'completed', 1, '{}', now(), now()
    from generate_series(1, ${SCANNED}::int)`);
  // Random ids may sort before or after it, so the newest page is of those that sort after.
  await api.database.db.execute(sql`update jobs set id = ('ffffffff' || substr(id::text, 9))::uuid
    where context_id = ${worker.context_id} and kind = 'retry'`);
  const first = await list({ q: 'needle in', context_id: worker.context_id });
  expect(first.data).toEqual([]);
  expect(first.next_cursor).not.toBeNull();
  expect(await allOf({ q: 'needle in', context_id: worker.context_id })).toEqual([old]);
});

test('a queued job of a list tells why it does not run yet', async () => {
  const own = await openApi();
  const whysOf = async (context: Body): Promise<(string | undefined)[]> =>
    (await own.get(`/api/jobs?include=why&context_id=${context.context_id}`)).body.data.map(({ why }: Body) => why);
  const send = async (context: Body): Promise<Body> =>
    own.post(`/api/contexts/${context.context_id}/messages`, { content: 'x' });
  const [one, other] = [await own.worker(), await own.worker()];
  await send(one);
  expect(await whysOf(one)).toEqual(['No worker process is running: start one with `nightshift worker`.']);
  const process = await addProcess(own);
  await send(one);
  expect(await whysOf(one)).toEqual([
    'Other jobs of the same context are queued before it.',
    'It waits for a free worker process.',
  ]);
  const manual = await take(own, one.context_id, process);
  await manual.admit();
  expect(await whysOf(one)).toEqual(['An earlier job of the same context is running.', undefined]);
  await own.database.db.execute(sql`update tenants set limits = '{"slots": 1}'`);
  const limited = await openApi({}, own.databaseUrl);
  await send(other);
  const { body } = await limited.get(`/api/jobs?include=why&context_id=${other.context_id}`);
  expect(body.data[0].why).toBe('All slots of the tenant are in use: its limit is 1.');
  await limited.close();
  await own.close();
});

test('however many queued jobs a page has, it takes one statement more', async () => {
  const worker = await api.worker();
  for (let n = 0; n < 20; n += 1) await post(worker, 'x');
  api.statements.length = 0;
  const page = await list({ include: 'why', context_id: worker.context_id });
  expect(page.data.every(({ why }: Body) => typeof why === 'string')).toBe(true);
  expect(api.statements.filter((text) => text.includes('/* jobs.'))).toHaveLength(2);
});
