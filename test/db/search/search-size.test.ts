// Search over many messages, of which one matches, or most.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WHOLE_TENANT } from '../../../src/core/access/reach.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { searchStretch } from '../../../src/db/search/search.ts';
import { explainingJit } from '../../services/explaining.ts';
import { given, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';

let the: Given;
beforeAll(async () => {
  the = await given(createFreshDatabase);
});
afterAll(() => the.close());

const MANY = 10_000;
const CHUNK = 5_000;

/** How many are on the first page. */
const MET = {
  seldom: 10,
  'word0 seldom': 10,
  'word7 seldom': 0,
  common: 50,
  '"common 7777"': 1,
  'common -seldom': 50,
  777: 1,
  nowhere: 0,
};

const find = (executor: Executor, text: string) =>
  searchStretch(
    executor,
    DEFAULT_TENANT,
    {
      reach: WHOLE_TENANT,
      user: null,
      text,
      contextIds: [],
      workerRole: null,
      messageRole: null,
      createdAfter: null,
      createdBefore: null,
    },
    { after: { before: null, after: null }, limit: 50 },
  );

test('it is not JIT-compiled, which would take longer than the read', async () => {
  const plans: string[] = [];
  await the.database.transaction(async (tx) => {
    await tx.execute(sql`select set_config('jit_above_cost', '0', true)`);
    return find(explainingJit(tx, plans), 'seldom');
  });
  expect(plans.at(-1)).toContain('search_entries');
  expect(plans.at(-1)).not.toContain('JIT');
});

test('a page is read by the index, whether one message matches or most', async () => {
  const { contextId } = await the.context();
  const { db } = the.database;
  // Entries and messages as an index after long use contains them.
  for (let from = 1; from <= MANY; from += CHUNK) {
    await db.execute(sql`
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, created_at)
      select gen_random_uuid(), 1, ${contextId}, 'main', n, 'user', 'text', 'u1', 'completed',
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'common ' || n
          || case n % 1000 when 0 then ' seldom' else '' end || repeat(' word' || n % 100, 60))),
        now() + n * interval '1 millisecond'
      from generate_series(${from}::int, ${from + CHUNK - 1}::int) n`);
    await db.execute(sql`
      insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
      select context_id, seq, tenant_id, id, role, created_at,
        array_to_tsvector(array['@' || tenant_id::text, '@' || context_id::text]) || to_tsvector('english', content -> 0 ->> 'text')
      from messages where context_id = ${contextId} and seq >= ${from}`);
  }
  const ask = (text: string) => the.database.transaction((tx) => find(tx, text));
  const found = new Map<string, number>();
  for (const text of Object.keys(MET)) found.set(text, (await ask(text)).found.length);
  expect(Object.fromEntries(found)).toEqual(MET);
});
