// No transaction locks two contexts, except sweeps and shared submits, which do not wait for locks: seen from the server
// while clients, runs and sweeps work on many contexts at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelJob } from '../../src/commands/jobs/cancel-job.ts';
import { changeWorker } from '../../src/commands/workers/change-worker.ts';
import { perform } from '../../src/commands/perform.ts';
import { startWorker, stopWorker } from '../../src/commands/workers/stop-worker.ts';
import { DEFAULT_TENANT } from '../../src/core/ids.ts';
import { claim } from '../../src/db/run/claims.ts';
import type { Executor } from '../../src/db/connection/client.ts';
import { submit } from '../../src/db/write/inputs/submit.ts';
import { given, type Context, type Given } from './database-fixture.ts';
import { submissionTo } from './inputs.ts';
import { sweep, workerState } from './worker-state.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
  // Each transaction records the contexts that it changed.
  await the.rows(
    `create table touched (xact text, context_id uuid, actor text, query text, primary key (xact, context_id))`,
  );
  await the.database.db.execute(sql`
    create function note_touch() returns trigger language plpgsql as $$
    begin
      insert into touched values (pg_current_xact_id()::text, new.id, current_setting('application_name'), current_query())
        on conflict do nothing;
      return null;
    end $$`);
  await the.rows(`create trigger touch after update on contexts for each row execute function note_touch()`);
});
afterAll(() => the.close());

test('no transaction locks two contexts, whatever clients, runs and sweeps do at once', async () => {
  const contexts = await Promise.all(Array.from({ length: 4 }, () => the.context()));
  const clients = Array.from({ length: 4 }, (_, n) => the.open({ max: 1, name: `client-${n}` }));
  const sweeper = {
    ...workerState(the),
    database: the.open({ max: 1, name: 'sweep' }),
    identity: () => process,
  };
  const process = await the.process();
  const submits = the.open({ max: 4, name: 'submit' });
  const waits: string[] = [];
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      waits.push(...(await waiting(the.database.db)));
      await sleep(2);
    }
  })();
  await Promise.all(
    clients.map(async (database, n) => {
      const ports = the.ports(database);
      for (let round = 0; round < 12; round += 1) {
        const { contextId }: Context = contexts[(round + n) % contexts.length] ?? contexts[0] ?? (await the.context());
        const target = { tenantId: DEFAULT_TENANT, contextId };
        const submission = submissionTo(contextId);
        const jobId = (await submit(submits.db, submission)) === null ? null : submission.jobId;
        await perform(ports, stopWorker(ports, target, { by: null }));
        await perform(ports, startWorker(ports, target));
        await claim(database.db, contextId, await the.process());
        await perform(ports, changeWorker({ ...target, change: { name: `n${round}` }, expectedVersion: null }));
        if (jobId !== null) {
          await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }));
        }
        await sweep(sweeper);
      }
    }),
  );
  over.abort();
  await watching;
  expect(waits).toEqual([]);
  expect(
    await the.rows(`
      select actor, count(*)::int as contexts from touched
      where actor <> 'sweep' and not starts_with(query, '/* jobs.submit_many */')
      group by xact, actor having count(*) > 1`),
  ).toEqual([]);
  expect(await deadlocks()).toBe(0);
  expect(Number((await the.rows('select count(*) as n from touched'))[0]?.['n'])).toBeGreaterThan(100);
});

/** Only sweeps and shared submits lock several contexts at once: they must not wait for a row while they do. */
async function waiting(db: Executor): Promise<string[]> {
  const rows = await db.execute<{ query: string }>(sql`
    select query from pg_stat_activity where datname = current_database() and application_name in ('sweep', 'submit')
      and query ilike '%skip locked%' and state = 'active'
      and wait_event_type = 'Lock' and wait_event in ('tuple', 'transactionid') and cardinality(pg_blocking_pids(pid)) > 0`);
  return rows.map(({ query }) => query);
}

async function deadlocks(): Promise<number> {
  const [row] = await the.rows('select deadlocks::int as n from pg_stat_database where datname = current_database()');
  return Number(row?.['n']);
}
