// Search over messages: the results, their order, and what is not found.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { indexBacklog } from '../../../src/db/search/search-index.ts';
import { STRETCH } from '../../../src/db/search/search.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';
import { createFreshDatabase } from '../../services/database.ts';

let api: Api;
let database: Awaited<ReturnType<typeof createFreshDatabase>>;
beforeAll(async () => {
  // Its own: PostgreSQL counts the scans of the connections that others left, too.
  database = await createFreshDatabase();
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:default,theirs:globex' }, database.url);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const OURS = { authorization: 'Bearer ours' };
const THEIRS = { authorization: 'Bearer theirs' };

async function search(query: Record<string, string>, headers = OURS): Promise<Body> {
  const { status, body } = await api.get(`/api/search?${new URLSearchParams(query).toString()}`, headers);
  expect(status).toBe(200);
  return body;
}

async function index(): Promise<void> {
  while (await indexBacklog(api.database.db));
}

function asUs(): Api {
  return { ...api, post: (path, body) => api.post(path, body, OURS) };
}

async function conversation(turns: [string, string][], worker: object = {}): Promise<Body> {
  const { body } = await api.post('/api/workers', { name: 'w', ...worker }, OURS);
  const owner = await addProcess(api, { roles: ['pilot'] });
  for (const [input, answer] of turns) await converse(asUs(), body.context_id, owner, input, answer);
  await index();
  return body;
}

/** Messages of a context, inserted directly: text, status. */
async function insertMessages(contextId: string, texts: string[], from: number): Promise<void> {
  const rows = texts.map((text, n) => ({ id: ids.next(), seq: from + n, content: [{ type: 'text', text }] }));
  await api.database.db.execute(sql`
    with ctx as (
      update contexts set head_seq = ${from + texts.length - 1} where id = ${contextId} returning id, tenant_id
    ), backlog as (
      insert into search_backlog (context_id, tenant_id, upto_seq) select id, tenant_id, ${from + texts.length - 1} from ctx
    )
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, created_at)
    select r.id, ctx.tenant_id, ctx.id, 'main', r.seq, 'user', 'text', 'u1', 'completed', r.content,
      now() + r.seq * interval '1 millisecond'
    from ctx, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id uuid, seq bigint, content jsonb)`);
  await index();
}

describe('a search finds', () => {
  test('inputs and answers, the best first, with the match in its surroundings', async () => {
    const worker = await conversation([
      ['Where do zebras live?', 'Zebras live in Africa. A zebra is striped; zebra herds are large.'],
      [
        'Thanks!',
        'You are **welcome** to ask about one zebra more, or about anything else that comes to your mind today.',
      ],
    ]);
    const { data, next_cursor } = await search({ q: 'zebra' });
    expect(next_cursor).toBeNull();
    expect(data.map((one: Body) => [one.turn, one.role])).toEqual([
      ['a1', 'assistant'],
      ['a2', 'assistant'],
      ['u1', 'user'],
    ]);
    expect(data[0]).toMatchObject({ context_id: worker.context_id });
    expect(data[0].snippet).toContain('**Zebras** live in Africa. A **zebra** is striped');
    expect(data[1].snippet).toContain('You are welcome to ask about one **zebra** more');
    const ranks = data.map((one: Body) => one.rank);
    expect(ranks).toEqual(ranks.toSorted((a: number, b: number) => b - a));
    const { body } = await api.get(`/api/contexts/${worker.context_id}/messages`, OURS);
    expect(body.data.map((one: Body) => one.id)).toContain(data[0].message_id);
  });

  test('messages with all words, with a phrase, with one of two, and without another', async () => {
    await conversation([
      ['the quick brown walrus', 'walrus and penguin'],
      ['penguin alone', 'brown quick walrus'],
    ]);
    const turns = async (q: string) => (await search({ q })).data.map((one: Body) => one.turn).toSorted();
    expect(await turns('walrus quick')).toEqual(['a2', 'u1']);
    expect(await turns('"quick brown walrus"')).toEqual(['u1']);
    expect(await turns('penguin -walrus')).toEqual(['u2']);
    expect(await turns('"brown quick" or "penguin alone"')).toEqual(['a2', 'u2']);
    expect(await turns('walruses')).toEqual(['a1', 'a2', 'u1']);
  });

  test('text in other scripts, and around characters that Postgres cannot hold', async () => {
    await conversation([['Grüße aus Köln an Москва', 'left\0right 🦓']]);
    expect((await search({ q: 'grüße москва' })).data).toHaveLength(1);
    const { data } = await search({ q: 'left right' });
    expect(data).toHaveLength(1);
    expect(data[0].snippet).toContain('**left** **right**');
  });

  test('by context, worker, role of the worker, role of the message, and time', async () => {
    const one = await conversation([['narwhal one', 'narwhal two']], { role: 'pilot' });
    await conversation([['narwhal three', 'nothing']]);
    const texts = async (query: Record<string, string>) =>
      (await search({ q: 'narwhal', ...query })).data.map((found: Body) => found.snippet).toSorted();
    const ofOne = ['**narwhal** one', '**narwhal** two'];
    expect(await texts({})).toEqual([...ofOne.slice(0, 1), '**narwhal** three', ...ofOne.slice(1)].toSorted());
    expect(await texts({ context_id: one.context_id })).toEqual(ofOne);
    expect(await texts({ worker_id: one.id })).toEqual(ofOne);
    expect(await texts({ role: 'pilot' })).toEqual(ofOne);
    expect(await texts({ message_role: 'assistant' })).toEqual(['**narwhal** two']);
    expect(await texts({ created_after: '2100-01-01T00:00:00Z' })).toEqual([]);
    expect(await texts({ created_before: '2100-01-01T00:00:00Z', created_after: '2001-01-01T00:00:00Z' })).toHaveLength(
      3,
    );
    expect(await texts({ created_before: '2001-01-01T00:00:00Z' })).toEqual([]);
    expect(await texts({ context_id: one.id })).toEqual([]);
    expect(await texts({ worker_id: one.context_id })).toEqual([]);
  });
});

test('phrases of many words over long texts are found, with the words in the snippet', async () => {
  const worker = await conversation([]);
  const phrase = 'flight late hours gate seven wait told anything person flight late hours';
  const texts = Array.from(
    { length: 20 },
    (_, n) => `${phrase} ${`late gate flight ${n} hours seven wait `.repeat(1_200)}`,
  );
  await insertMessages(worker.context_id, texts, 1);
  const parts = phrase.split(' ').map((word, at, all) => `"${word} ${all[at + 1] ?? word}"`);
  for (const q of [`"${phrase}"`, parts.slice(0, 11).join(' ')]) {
    const { data } = await search({ q, context_id: worker.context_id });
    expect(data).toHaveLength(20);
    expect(data[0].snippet).toContain('**flight**');
  }
});

test('a query of more than 32 words is refused', async () => {
  const q = Array.from({ length: 33 }, (_, n) => `w${n}`).join(' ');
  const { status, body } = await api.get(`/api/search?${new URLSearchParams({ q }).toString()}`, OURS);
  expect(status).toBe(422);
  expect(body.error).toMatchObject({ code: 'invalid_request', param: 'q' });
  await search({ q: q.replace(/ w32$/, '') });
});

describe('a search does not find', () => {
  test('queued, retracted, deleted messages, those on no branch, and those of another tenant', async () => {
    const worker = await conversation([['okapi one', 'okapi two']]);
    await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'okapi queued' }, OURS);
    await index();
    expect((await search({ q: 'okapi' })).data).toHaveLength(2);
    expect((await search({ q: 'okapi' }, THEIRS)).data).toEqual([]);
    const { db } = api.database;
    await db.execute(
      sql`update messages set status = 'retracted' where context_id = ${worker.context_id} and role = 'assistant'`,
    );
    expect((await search({ q: 'okapi' })).data.map((one: Body) => one.turn)).toEqual(['u1']);
    await db.execute(
      sql`update branches set spans = '[{"branch": "main", "after": 50, "upto": null}]' where context_id = ${worker.context_id}`,
    );
    expect((await search({ q: 'okapi' })).data).toEqual([]);
    await db.execute(
      sql`update branches set spans = '[{"branch": "main", "after": 0, "upto": 50}]' where context_id = ${worker.context_id}`,
    );
    expect((await search({ q: 'okapi' })).data).toHaveLength(1);
    await api.call('DELETE', `/api/contexts/${worker.context_id}`, undefined, OURS);
    expect((await search({ q: 'okapi' })).data).toEqual([]);
    const left = await db.execute(sql`select 1 from search_entries where context_id = ${worker.context_id}`);
    expect(left).toEqual([]);
  });

  test('arguments and results of tools', async () => {
    const { body: worker } = await api.post('/api/workers', { name: 'w' }, OURS);
    const owner = await addProcess(api);
    await api.post(`/api/workers/${worker.id}/messages`, { content: 'go' }, OURS);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.answer([{ type: 'tool_use', id: ids.next(), name: 'look', input: { at: 'quokka' } }]);
    await manual.results('a quokka');
    await manual.complete('seen');
    await index();
    expect((await search({ q: 'quokka' })).data).toEqual([]);
    expect((await search({ q: 'seen' })).data).toHaveLength(1);
    // A message without text is not found by a word that it lacks either.
    const without = await search({ q: '-quokka -go', context_id: worker.context_id });
    expect(without.data.map((one: Body) => one.snippet)).toEqual(['seen']);
  });
});

test('pages contain each match once, however many there are, and later messages shift nothing', async () => {
  const { body: worker } = await api.post('/api/workers', { name: 'w' }, OURS);
  const many = STRETCH + 150;
  await insertMessages(
    worker.context_id,
    Array.from({ length: many }, (_, n) => `${'lemming '.repeat(1 + (n % 7))} ${n}`),
    1,
  );
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Body = await search({ q: 'lemming', limit: '200', ...(cursor === null ? {} : { cursor }) });
    expect(page.data.length === 200 || page.next_cursor === null).toBe(true);
    seen.push(...page.data.map((one: Body) => one.message_id));
    cursor = page.next_cursor;
    if (seen.length === 200) await insertMessages(worker.context_id, ['lemming lemming lemming'], many + 1);
  } while (cursor !== null);
  expect(seen).toHaveLength(many);
  expect(new Set(seen).size).toBe(many);
});

test.each([
  '"',
  "'",
  "''",
  '\\',
  '&',
  '|',
  '!',
  '!!',
  '(',
  ')',
  '<->',
  ':*',
  'a:*b',
  '- -',
  '-"',
  'or',
  'or or',
  'and',
  'a & | b',
  '%',
  '_',
  '$1',
  '@default',
  "'@globex'",
  '🦓',
  '\u0001',
  '\u202e',
  '\ufffd',
  '\uf8fe0000',
  'x'.repeat(1_000),
  '"'.repeat(1_000),
  '-a '.repeat(32),
  '<<<>>>',
  '{}',
  '[1]',
  'the',
  'the of and',
])('any text is a valid query: %j', async (q) => {
  const { data } = await search({ q });
  expect(Array.isArray(data)).toBe(true);
});

test.each([
  [{}, 'q'],
  [{ q: '' }, 'q'],
  [{ q: '  \n' }, 'q'],
  [{ q: 'a\0b' }, 'q'],
  [{ q: 'x'.repeat(1_001) }, 'q'],
  [{ q: 'x', context_id: 'me' }, 'context_id'],
  [{ q: 'x', message_role: 'tool' }, 'message_role'],
  [{ q: 'x', created_after: 'yesterday' }, 'created_after'],
  [{ q: 'x', limit: '0' }, 'limit'],
  [{ q: 'x', cursor: 'abc' }, 'cursor'],
  [{ q: 'x', cursor: Buffer.from('[1,"a"]').toString('base64url') }, 'cursor'],
  [{ q: 'x', cursor: Buffer.from(`[9e15,"${ids.next()}"]`).toString('base64url') }, 'cursor'],
  [{ q: 'x', colour: 'red' }, 'colour'],
] as [Record<string, string>, string][])('%j is refused by field name', async (query, param) => {
  const { status, body } = await api.get(`/api/search?${new URLSearchParams(query).toString()}`, OURS);
  expect(status).toBe(422);
  expect(body.error.param).toBe(param);
});

test('the index answers, whatever the statistics of the table', async () => {
  const scans = async (): Promise<Body> => {
    const [row] = await api.database.db.execute<Body>(sql`
      select (select idx_scan from pg_stat_user_indexes where indexrelname = 'search_entries_document') as index,
        (select seq_scan from pg_stat_user_tables where relname = 'search_entries') as whole`);
    return row;
  };
  // Earlier statements' counts are not delayed: each connection reports them at the end of a transaction.
  await Promise.all(
    Array.from({ length: 5 }, () => api.database.db.execute(sql`select pg_sleep(0.2), pg_stat_force_next_flush()`)),
  );
  const before = await scans();
  for (let n = 0; n < 8; n += 1) await search({ q: 'hedgehog' });
  await expect.poll(async () => (await scans()).index).toBeGreaterThanOrEqual(before.index + 8);
  expect((await scans()).whole).toBe(before.whole);
});

test('a context that is being deleted is skipped until it is gone', async () => {
  const { body: worker } = await api.post('/api/workers', { name: 'w' }, OURS);
  const { database } = api;
  await database.db.execute(
    sql`insert into search_backlog (context_id, tenant_id, upto_seq) values (${worker.context_id}, 1, 5)`,
  );
  await database.transaction(async (tx) => {
    await tx.execute(sql`select 1 from contexts where id = ${worker.context_id} for update`);
    expect(await indexBacklog(database.db)).toBe(false);
  });
  const rows = () => database.db.execute(sql`select 1 from search_backlog where context_id = ${worker.context_id}`);
  expect(await rows()).toHaveLength(1);
  await index();
  expect(await rows()).toEqual([]);
});
