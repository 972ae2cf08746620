// The rows that a run writes: each change of a row costs WAL, vacuum and CPU.
import { afterEach, expect, test } from 'vitest';
import { says, result, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

/** Tables that a run does not write: they belong to processes and to the installation. */
const BESIDE = [
  'processes',
  'provider_throttles',
  'tenants',
  'sessions',
  'tool_lists',
  'tool_use',
  'migrations',
  'row_log',
];

/** Each change of a row is recorded from now on. */
async function record(of: Fleet): Promise<void> {
  await of.query(`create table row_log (changed text, operation text)`);
  await of.query(`create function log_row() returns trigger language plpgsql as
    $$ begin insert into row_log values (tg_table_name, tg_op); return null; end $$`);
  const tables = await of.query(`select tablename as name from pg_tables where schemaname = 'nightshift'`);
  for (const { name } of tables)
    if (!BESIDE.includes(String(name)))
      await of.query(`create trigger log_row after insert or update or delete on ${String(name)}
        for each row execute function log_row()`);
}

async function recorded(of: Fleet): Promise<Record<string, Record<string, number>>> {
  const rows = await of.query(`select operation, changed, count(*)::int as n from row_log group by 1, 2 order by 1, 2`);
  const found: Record<string, Record<string, number>> = {};
  for (const { operation, changed, n } of rows)
    found[String(operation)] = { ...found[String(operation)], [String(changed)]: Number(n) };
  return found;
}

test('a new worker with five model calls and four tool calls: 23 inserts and 15 updates, no row for a tool call', async () => {
  let steps = 0;
  fleet = await startFleet({
    model: () => ((steps += 1) <= 4 ? says('', { name: 'look', input: {} }) : says('done')),
    tools: { look: { execute: () => result('seen') } },
  });
  const of = fleet;
  await record(of);
  const { jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', steps: 5 });
  await of.until(async () => (await of.query(`select 1 from contexts where scheduling_status <> 'idle'`)).length === 0);
  await of.until(async () => (await of.query(`select 1 from search_backlog`)).length === 0);
  expect(await recorded(of)).toEqual({
    INSERT: {
      branches: 1,
      contexts: 1,
      // Of the claim and of each answer.
      event_batches: 6,
      jobs: 1,
      messages: 10,
      search_backlog: 1,
      // Of the input and of the last answer: the others have no text.
      search_entries: 2,
      workers: 1,
    },
    UPDATE: { branches: 1, contexts: 7, jobs: 6, messages: 1 },
    DELETE: { search_backlog: 1 },
  });
});
