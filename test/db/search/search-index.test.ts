// Indexing for search by several processes at once: nothing is skipped.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type WorkerId } from '../../../src/core/ids.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { clear } from '../../../src/db/write/contexts/clear.ts';
import { indexBacklog } from '../../../src/db/search/search-index.ts';
import { given, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const TEXT_OF = 120;

/** A context with so many messages, none of them indexed. `text`: SQL of the text of each. */
async function spoken(messages = TEXT_OF, text = `'zebra'`): Promise<ContextId> {
  const { contextId } = await the.context();
  await the.rows(`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), '${DEFAULT_TENANT}', '${contextId}', 'main', n, 'user', 'text', 'u' || n, 'completed',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', ${text})), now()
    from generate_series(1, ${messages}) n`);
  await the.rows(`update contexts set head_seq = ${messages} where id = '${contextId}'`);
  await the.rows(`insert into search_backlog (context_id, tenant_id, upto_seq)
    values ('${contextId}', '${DEFAULT_TENANT}', ${messages})`);
  return contextId;
}

test('entries that another process has just made and not committed are not taken for the end', async () => {
  const contextId = await spoken();
  const made = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<void>();
  const other = the.open().transaction(async (tx) => {
    await tx.execute(`insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
      select context_id, seq, tenant_id, id, role, created_at, '' from messages
      where context_id = '${contextId}' and seq <= 10`);
    made.resolve();
    await committed.promise;
  });
  await made.promise;
  const own = indexBacklog(the.database.db);
  // It reaches the uncommitted entries, and waits for them.
  await expect
    .poll(() =>
      the.rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like '%search_backlog%'`,
      ),
    )
    .toHaveLength(1);
  committed.resolve();
  await Promise.all([other, own]);
  while (await indexBacklog(the.database.db));
  expect(await the.rows(`select count(*)::int as n from search_entries where context_id = '${contextId}'`)).toEqual([
    { n: TEXT_OF },
  ]);
  expect(await the.rows('select 1 from search_backlog')).toEqual([]);
});

test('long texts are processed a few at a time, and none is left out', async () => {
  await the.rows('delete from search_entries');
  const long = `(select string_agg(md5(n::text || k::text), ' ') from generate_series(1, 2000) k)`;
  const contexts = [await spoken(40, long), await spoken(40, long), await spoken(40, long)];
  const made = async (): Promise<unknown> =>
    (await the.rows('select count(*)::int as n from search_entries'))[0]?.['n'];
  expect(await indexBacklog(the.database.db)).toBe(true);
  expect(await made()).toBeGreaterThan(0);
  expect(await made()).toBeLessThan(TEXT_OF);
  while (await indexBacklog(the.database.db));
  expect(await made()).toBe(40 * contexts.length);
  expect(await the.rows('select 1 from search_backlog')).toEqual([]);
});

test('messages without text get no entry, and however many there are, each is looked at once or twice', async () => {
  await the.rows('delete from search_entries');
  const contextId = await spoken(60);
  // Texts at 30 and at 170. In between: more than one pass takes.
  await the.rows(`update messages set content = '[]' where context_id = '${contextId}' and seq <> 30`);
  await the.rows(`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
    select gen_random_uuid(), '${DEFAULT_TENANT}', '${contextId}', 'main', n, 'assistant', 'text', 'a' || n, 'completed',
      case when n = 170 then '[{"type":"text","text":"gnu"}]' else '[{"type":"tool_use","id":"x"}]' end::json
    from generate_series(61, 200) n`);
  await the.rows(`update contexts set head_seq = 200 where id = '${contextId}'`);
  await the.rows(`insert into search_backlog (context_id, tenant_id, upto_seq)
    values ('${contextId}', '${DEFAULT_TENANT}', 200)`);
  let passes = 1;
  while (await indexBacklog(the.database.db)) passes += 1;
  expect(passes).toBeLessThanOrEqual(200 / 50 + 2);
  const rows = await the.rows(`select seq::int, document @@ 'gnu | zebra' as found,
      length(document) as words from search_entries where context_id = '${contextId}' order by seq`);
  expect(rows.filter(({ found }) => found).map(({ seq }) => seq)).toEqual([30, 170]);
  // Where a pass ended: without the marks of tenant and context, so that no search finds them.
  expect(rows.filter(({ found }) => !found).map(({ words }) => words)).toEqual(rows.slice(2).map(() => 0));
  expect(rows.length).toBeLessThanOrEqual(2 + 200 / 50);
  expect(await the.rows('select 1 from search_backlog')).toEqual([]);
});

test('entries that are made while their context is deleted are deleted with it', async () => {
  const contextId = await spoken();
  const [worker] = await the.rows(`select id from workers where context_id = '${contextId}'`);
  const made = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<void>();
  const other = the.open().transaction(async (tx) => {
    await indexBacklog(tx);
    made.resolve();
    await committed.promise;
  });
  await made.promise;
  // It waits for the worker's row, in which the first input was stored.
  const removed = deleteWorker(the.ports(), DEFAULT_TENANT, String(worker?.['id']) as WorkerId);
  await expect
    .poll(() =>
      the.rows(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%workers.lock%'`),
    )
    .toHaveLength(1);
  committed.resolve();
  await Promise.all([other, removed]);
  expect(await the.rows(`select 1 from search_entries where context_id = '${contextId}'`)).toEqual([]);
  expect(await the.rows('select 1 from search_backlog')).toEqual([]);
});

const firstInput = async (contextId: ContextId) =>
  (await the.rows(`select first_input from workers where context_id = '${contextId}'`))[0]?.['first_input'];

/** Adds an input to a context with `after` messages. */
async function say(contextId: ContextId, after: number, text: string): Promise<void> {
  await the.rows(`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
    values (gen_random_uuid(), '${DEFAULT_TENANT}', '${contextId}', 'main', ${after + 1}, 'user', 'text', 'u', 'completed',
      json_build_array(json_build_object('type', 'text', 'text', '${text}')))`);
  await the.rows(`update contexts set head_seq = ${after + 1} where id = '${contextId}'`);
  await the.rows(`insert into search_backlog (context_id, tenant_id, upto_seq)
    values ('${contextId}', '${DEFAULT_TENANT}', ${after + 1})`);
}

test('the beginning of the first input is stored with the worker, once, on one line', async () => {
  const contextId = await spoken(2, `'  Input ' || n || E' of\\n\\t' || repeat('x', 2000)`);
  const titled: ContextId[] = [];
  const onTitled = (id: ContextId): void => void titled.push(id);
  while (await indexBacklog(the.database.db, onTitled));
  const stored = await firstInput(contextId);
  expect(stored).toBe(`Input 1 of ${'x'.repeat(120)}`.slice(0, 120));
  await say(contextId, 2, 'a later one');
  while (await indexBacklog(the.database.db, onTitled));
  expect(await firstInput(contextId)).toBe(stored);
  expect(titled).toEqual([contextId]);
});

test('a worker that a command has locked gets its first input later, and the index does not wait for it', async () => {
  const contextId = await spoken(1, `'the first'`);
  await the.open().transaction(async (tx) => {
    await tx.execute(`select 1 from workers where context_id = '${contextId}' for update`);
    while (await indexBacklog(the.database.db));
  });
  expect(await firstInput(contextId)).toBeNull();
  await say(contextId, 1, 'the second');
  while (await indexBacklog(the.database.db));
  expect(await firstInput(contextId)).toBe('the first');
  expect(await the.rows('select 1 from search_backlog')).toEqual([]);
  expect(await the.rows(`select 1 from search_entries where context_id = '${contextId}'`)).toHaveLength(2);
});

const clearing = (contextId: ContextId) => the.open().transaction((tx) => clear(tx, DEFAULT_TENANT, contextId));

test('a context that is cleared before its first input is stored is named after the first one since', async () => {
  const contextId = await spoken(1, `'before'`);
  const { headSeq } = await clearing(contextId);
  while (await indexBacklog(the.database.db));
  expect(await firstInput(contextId)).toBeNull();
  await say(contextId, headSeq, 'since');
  while (await indexBacklog(the.database.db));
  expect(await firstInput(contextId)).toBe('since');
});

test('a clear that commits while a pass runs leaves no first input', async () => {
  const contextId = await spoken(1, `'before'`);
  await the.open().transaction(async (tx) => {
    await clear(tx, DEFAULT_TENANT, contextId);
    while (await indexBacklog(the.database.db));
  });
  while (await indexBacklog(the.database.db));
  expect(await firstInput(contextId)).toBeNull();
  expect(await the.rows('select 1 from search_backlog')).toEqual([]);
});

test('an input that was retracted names no context', async () => {
  const contextId = await spoken(2, `'number ' || n`);
  await the.rows(`update messages set status = 'retracted' where context_id = '${contextId}' and seq = 1`);
  while (await indexBacklog(the.database.db));
  expect(await firstInput(contextId)).toBe('number 2');
});
