// The list of jobs among very many of them: under any filter, the jobs that do not match are not read one by one.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WHOLE_TENANT } from '../../../src/core/access/reach.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type WorkerId } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import type { JobFilter } from '../../../src/db/read/jobs/job-filter.ts';
import { listJobs, type JobsOfPage } from '../../../src/db/read/jobs/job-views.ts';
import { SCANNED, type JobOrder } from '../../../src/db/read/jobs/find-jobs.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { explaining, passedOver } from '../../services/explaining.ts';

const JOBS = 20_000;
const WORKERS = 2_000;
/** One a minute from this time on. */
const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;

let database: Database;
let drop: () => Promise<void>;
const plans: string[] = [];
beforeAll(async () => {
  const made = await createFreshDatabase();
  drop = () => made.drop();
  database = openDatabase(made.url, { max: 2 });
  const { db } = database;
  const id = (of: string, n: string) => sql.raw(`('00000000-0000-7000-${of}-' || lpad(to_hex(${n}), 12, '0'))::uuid`);
  await db.execute(sql`insert into contexts (id, tenant_id) select ${id('8000', 'n')}, ${DEFAULT_TENANT}
    from generate_series(1, ${WORKERS}::int) n`);
  await db.execute(sql`insert into workers (id, tenant_id, context_id, name, role, config)
    select ${id('8001', 'n')}, ${DEFAULT_TENANT}, ${id('8000', 'n')}, 'w', case n when 7 then 'rare' else 'r' || n % 10 end, '{}'
    from generate_series(1, ${WORKERS}::int) n`);
  // A UUIDv7 of their creation time, as jobs have.
  await db.execute(sql`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, message_id,
      metadata, error, created_at, started_at, finished_at)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
      ${DEFAULT_TENANT}, ${id('8000', '1 + n % 2000')}, ${id('8001', '1 + n % 2000')},
      case when n % 5000 = 1 then 'retry' else 'input' end, 'main', status, n,
      case when n % 5000 = 1 then null else ${id('8003', 'n')} end,
      case when n % 4000 = 3 then '{"batch": "rare"}' when n % 2 = 0 then jsonb_build_object('batch', n % 50) else '{}' end,
      case when status = 'failed' then '{"code": "internal", "message": "x"}'::jsonb end, at,
      case when status <> 'queued' then at end, case when status in ('completed', 'failed') then at end
    from generate_series(1, ${JOBS}::int) n
    cross join lateral (select to_timestamp(${BEGIN / 1000}::float8 + n * 60) as at,
      case n when 1001 then 'queued' when 1002 then 'waiting' when 1003 then 'running' when 1005 then 'failed'
        else 'completed' end as status) made`);
  await db.execute(sql`vacuum analyze`);
}, 120_000);
afterAll(async () => {
  await database.close();
  await drop();
});

const NEWEST: JobOrder = { by: 'created', descending: true, after: null };

const NONE: JobFilter = {
  reach: WHOLE_TENANT,
  user: null,
  statuses: null,
  kind: null,
  role: null,
  metadata: null,
  contextId: null,
  workerId: null,
  parentJobId: null,
  createdAfter: null,
  createdBefore: null,
};
const id = <T extends string>(of: string): T => `00000000-0000-7000-${of}-000000000008` as T;
const at = (minutes: number): number => BEGIN + minutes * MINUTE;

test.each<[string, Partial<JobFilter>, number]>([
  ['nothing', {}, 50],
  ['one status', { statuses: ['failed'] }, 1],
  ['all that are unfinished', { statuses: ['queued', 'running', 'waiting'] }, 3],
  ['what is unfinished or failed', { statuses: ['queued', 'running', 'waiting', 'failed'] }, 4],
  ['the status of nearly all', { statuses: ['completed'] }, 50],
  ['a kind', { kind: 'retry' }, 4],
  ['the kind that nearly all are of', { kind: 'input' }, 50],
  ['a role that few have', { role: 'rare' }, 10],
  ['a role that no job has', { role: 'nobody' }, 0],
  ['metadata', { metadata: { batch: 'rare' } }, 5],
  ['metadata that no job has', { metadata: { no: 'where' } }, 0],
  ['a context', { contextId: id<ContextId>('8000') }, 10],
  ['a worker', { workerId: id<WorkerId>('8001') }, 10],
  ['a worker that is not there', { workerId: id<WorkerId>('8999') }, 0],
  ['the job that asked', { parentJobId: id<JobId>('8004') }, 0],
  ['a time when there was none yet', { createdBefore: at(0) }, 0],
  ['a time long ago', { createdBefore: at(11) }, 10],
  ['the last second', { createdAfter: at(JOBS - 3) }, 3],
  ['an hour among many', { createdAfter: at(10_000), createdBefore: at(10_031) }, 30],
])('by %s it reads few jobs that it does not return', async (_, filter, count) => {
  const whole = { ...NONE, ...filter };
  expect(
    (await listJobs(database.db, DEFAULT_TENANT, { filter: whole, q: null, order: NEWEST, limit: 50 })).items,
  ).toHaveLength(count);
  await listJobs(explaining(database.db, plans), DEFAULT_TENANT, { filter: whole, q: null, order: NEWEST, limit: 50 });
  const plan = plans.at(-1) ?? '';
  expect(plan).not.toContain('Seq Scan on jobs');
  expect(passedOver(plan)).toBeLessThan(500);
});

test.each<[string, Pick<JobsOfPage, 'q' | 'order'>, Partial<JobFilter>]>([
  ['a text that no job has', { q: 'nowhere', order: NEWEST }, {}],
  ['a text, from the oldest on', { q: 'nowhere', order: { ...NEWEST, descending: false } }, {}],
  ['a text among those of a rare role', { q: 'nowhere', order: NEWEST }, { role: 'rare' }],
  ['the cost', { q: null, order: { by: 'cost', descending: true, after: null } }, {}],
  [
    'the duration of failed ones',
    { q: null, order: { by: 'duration', descending: false, after: null } },
    { statuses: ['failed'] },
  ],
])('by %s it looks at no more than the jobs of one scan', async (_, found, filter) => {
  const before = plans.length;
  const wanted = { ...found, filter: { ...NONE, ...filter }, limit: 50 };
  await listJobs(explaining(database.db, plans), DEFAULT_TENANT, wanted);
  const [plan = ''] = plans.slice(before);
  expect(plan).not.toContain('Seq Scan on jobs');
  expect(passedOver(plan)).toBeLessThanOrEqual(SCANNED);
});

test.each<[string, Partial<JobFilter>]>([
  ['queued', { statuses: ['queued'] }],
  ['queued', { statuses: ['queued'], kind: 'retry', createdAfter: 1 }],
  ['unfinished', { statuses: ['delayed', 'queued', 'running', 'waiting'] }],
  ['unfinished or failed', { statuses: ['delayed', 'queued', 'running', 'waiting', 'failed'] }],
])(
  'after a peak, with statistics from it, a list of %s jobs does not read those that have ended',
  async (_, filter) => {
    const peak = await createFreshDatabase();
    const during = openDatabase(peak.url, { max: 1 });
    const { db } = during;
    const one = '00000000-0000-7000-8000-000000000008';
    await db.execute(sql`insert into contexts (id, tenant_id) values (${one}, ${DEFAULT_TENANT})`);
    await db.execute(sql`insert into workers (id, tenant_id, context_id, name, config)
    values (${one}, ${DEFAULT_TENANT}, ${one}, 'w', '{}')`);
    await db.execute(sql`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${DEFAULT_TENANT}, ${one}, ${one}, 'retry', 'main',
      'queued', n, '{}' from generate_series(1, 20000) n`);
    await db.execute(sql`vacuum analyze`);
    await db.execute(sql`update jobs set status = 'completed', started_at = now(), finished_at = now()
    where position > 3`);
    const wanted: JobsOfPage = { filter: { ...NONE, ...filter }, q: null, order: NEWEST, limit: 50 };
    expect((await listJobs(db, DEFAULT_TENANT, wanted)).items).toHaveLength(3);
    await listJobs(explaining(db, plans), DEFAULT_TENANT, wanted);
    const plan = plans.at(-1) ?? '';
    await during.close();
    await peak.drop();
    expect(plan).not.toContain('Seq Scan on jobs');
    expect(passedOver(plan)).toBeLessThan(500);
  },
);
