// Whether jobs can be retried, in a context with very many of them: its jobs and messages are not read one by one.
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { DEFAULT_TENANT, type JobId } from '../../../src/core/ids.ts';
import { openDatabase, type Executor } from '../../../src/db/connection/client.ts';
import { factsOfJobs } from '../../../src/db/read/jobs/retriable.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { explaining, passedOver } from '../../services/explaining.ts';

const JOBS = 20_000;
const CONTEXT = '00000000-0000-7000-8000-000000000001';

const jobId = (n: number): JobId => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}` as JobId;
const ID = sql.raw(`('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`);

async function addContext(db: Executor): Promise<void> {
  await db.execute(sql`alter table jobs set (autovacuum_enabled = false)`);
  await db.execute(sql`alter table messages set (autovacuum_enabled = false)`);
  await db.execute(sql`insert into contexts (id, tenant_id) values (${CONTEXT}, ${DEFAULT_TENANT})`);
  await db.execute(sql`insert into workers (id, tenant_id, context_id, name, config)
    values (${CONTEXT}, ${DEFAULT_TENANT}, ${CONTEXT}, 'w', '{}')`);
  await db.execute(sql`insert into branches (context_id, tenant_id, name, created_at)
    select ${CONTEXT}, ${DEFAULT_TENANT}, name, now() from unnest(array['main', 'other', 'rare']) name
    on conflict do nothing`);
}

/** The first is the only one of its branch. Every second of the others is a retry, which added no message. */
async function addJobs(db: Executor, from: number, upto: number): Promise<void> {
  await db.execute(sql`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, message_id,
      metadata, error, started_at, finished_at, first_seq, last_seq)
    select ${ID}, ${DEFAULT_TENANT}, ${CONTEXT}, ${CONTEXT}, case n % 2 when 0 then 'retry' else 'input' end,
      case when n = 1 then 'rare' when n % 4 < 2 then 'other' else 'main' end, 'failed', n,
      case n % 2 when 0 then null else ${ID} end, '{}', '{"code": "internal", "message": "x"}', now(), now(),
      n * 10, n * 10 + 9
    from generate_series(${from}::int, ${upto}::int) n`);
  await db.execute(sql`insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, job_id)
    select j.id, ${DEFAULT_TENANT}, ${CONTEXT}, j.branch, n * 10 + 1, 'user', 'text', n, 'completed', '[]', j.id
    from generate_series(${from}::int, ${upto}::int) n join jobs j on j.position = n where j.kind = 'input'`);
}

test.each([
  ['without statistics', 0, false],
  ['with statistics from when there were few jobs', 100, false],
  ['with fresh statistics', 0, true],
])('%s, the last job of a branch is found by index', async (_, few, isFresh) => {
  const made = await createFreshDatabase();
  const database = openDatabase(made.url, { max: 1 });
  try {
    const { db } = database;
    await addContext(db);
    if (few > 0) {
      await addJobs(db, 1, few);
      await db.execute(sql`vacuum analyze`);
    }
    await addJobs(db, few + 1, JOBS);
    if (isFresh) await db.execute(sql`vacuum analyze`);
    const ids = [1, 2, 5, 10_000, JOBS - 2, JOBS - 1, JOBS].map(jobId);
    const facts = await factsOfJobs(db, DEFAULT_TENANT, ids);
    const last = facts.filter(({ isSuperseded }) => !isSuperseded).map((one) => one.jobId);
    expect(last.toSorted()).toEqual([1, JOBS - 1, JOBS].map(jobId));
    const plans: string[] = [];
    await factsOfJobs(explaining(db, plans), DEFAULT_TENANT, ids);
    const [plan = ''] = plans;
    expect(plan).not.toMatch(/Seq Scan on (?:jobs|messages)/);
    expect(passedOver(plan)).toBeLessThan(200);
  } finally {
    await database.close();
    await made.drop();
  }
});
