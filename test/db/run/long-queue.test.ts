// A run finds the next job of its context behind thousands of queued inputs as quickly as behind a few, also before
// PostgreSQL has counted them: with the statistics of a small table it once sorted all of them.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/ids.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { readHistories } from '../../../src/db/run/history.ts';
import { readParts } from '../../../src/db/run/mailbox/mailbox.ts';
import { places } from '../../../src/db/run/places.ts';
import { given, type Context, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';

const FEW = 3;
const MANY = 3_000;

let the: Given;
let short: Context;
let long: Context;
beforeAll(async () => {
  the = await given(createFreshDatabase);
  short = await queued(FEW);
  long = await queued(FEW);
  await the.rows('vacuum analyze jobs');
  await more(long.contextId, MANY);
});
afterAll(() => the.close());

async function queued(inputs: number): Promise<Context> {
  const context = await the.context();
  for (let count = 0; count < inputs; count += 1) await the.submit(context.contextId);
  return context;
}

/** Copies of the first queued job. */
async function more(contextId: ContextId, count: number): Promise<void> {
  await the.rows(`
    insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'position', 1000 + n))).*
    from jobs j, generate_series(1, ${count}) n
    where j.id = (select id from jobs where context_id = '${contextId}' order by position limit 1)`);
}

/** Rows of jobs that are read; counted by PostgreSQL, inside the transaction. */
async function touched(read: (tx: Executor) => Promise<unknown>): Promise<number> {
  return the.database.transaction(async (tx) => {
    const before = await lookedAt(tx);
    await read(tx);
    return (await lookedAt(tx)) - before;
  });
}

async function lookedAt(tx: Executor): Promise<number> {
  const [row] = await tx.execute<{ count: number }>(sql`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables
    where relname = 'jobs'`);
  if (row === undefined) throw new Error('Nothing is counted.');
  return row.count;
}

const READS: Readonly<Record<string, (tx: Executor, context: Context) => Promise<unknown>>> = {
  'the mailbox of a run': (tx, context) => readParts(tx, places([context]), 'alone'),
  'the mailboxes of runs that start together': (tx, context) => readParts(tx, places([context]), 'shared'),
  'the histories of runs that start together': (tx, context) => readHistories(tx, places([context]), 1_000_000),
};

test.each(Object.entries(READS))('%s: as many jobs are read behind many queued inputs', async (_, read) => {
  const behindFew = await touched((tx) => read(tx, short));
  const behindMany = await touched((tx) => read(tx, long));
  expect(behindFew).toBeGreaterThan(0);
  expect(behindMany).toBeLessThanOrEqual(behindFew);
});
