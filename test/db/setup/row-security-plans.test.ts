// Row security hides no index: searches by full text and by metadata read as much with it as without. The owner of the
// tables is no superuser, as in production.
import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { WHOLE_TENANT } from '../../../src/core/access/reach.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { openDatabase, type Database, type Executor } from '../../../src/db/connection/client.ts';
import { forTenant } from '../../../src/db/connection/tenant-setting.ts';
import { listJobs } from '../../../src/db/read/jobs/job-views.ts';
import type { JobOrder } from '../../../src/db/read/jobs/find-jobs.ts';
import { searchStretch } from '../../../src/db/search/search.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import { createEmptyDatabase, type TestDatabase } from '../../services/database.ts';
import { explainingBuffers } from '../../services/explaining.ts';
import { connected } from '../../services/connected.ts';

const NEWEST: JobOrder = { by: 'created', descending: true, after: null };

const ROWS = 20_000;
const [OURS, THEIRS] = [77, 78] as unknown as [TenantId, TenantId];

const tag = randomBytes(4).toString('hex');
const [owner, api, worker] = [
  `nightshift_plans_owner_${tag}`,
  `nightshift_plans_api_${tag}`,
  `nightshift_plans_worker_${tag}`,
];
let made: TestDatabase;
let off: Database;
let on: Database;

const urlFor = (login: string): string =>
  Object.assign(new URL(made.url), { username: login, password: 'secret' }).href;

const asSuperuser = (url: string, ...statements: string[]): Promise<void> =>
  connected(url, async (superuser) => {
    for (const statement of statements) await superuser.unsafe(statement);
  });

beforeAll(async () => {
  made = await createEmptyDatabase();
  await asSuperuser(
    made.url,
    `create role ${owner} login createrole password 'secret'`,
    `set role ${owner}; create role ${api} login password 'secret'; create role ${worker} login password 'secret'; reset role`,
    `do $$ begin execute format('grant create on database %I to ${owner}', current_database()); end $$`,
  );
  await migrate(urlFor(owner), undefined, { api, worker });
  off = openDatabase(urlFor(owner), { max: 1 });
  on = openDatabase(urlFor(api), { max: 1, namesTenant: true });
  await off.db.execute(sql`/* rows */ insert into tenants (id, name) values (${OURS}, 'acme'), (${THEIRS}, 'globex')`);
  for (const tenant of [OURS, THEIRS]) await fill(off.db, tenant);
}, 120_000);
afterAll(async () => {
  await on.close();
  await off.close();
  await made.drop();
  // Outside of their database, which is gone.
  const drops = [worker, api, owner].map((login) => `drop role if exists ${login}`);
  await asSuperuser(inject('databaseUrl'), ...drops);
});

/** Every 4,000th message and job is rare; all others have a word and a member in common. */
async function fill(db: Executor, tenant: TenantId): Promise<void> {
  const id = (of: string, n: string) =>
    sql.raw(
      `(lpad(to_hex(1767225600000 + ${n}), 12, '0') || '7000' || '${of}' || lpad(to_hex(${tenant}), 12, '0'))::uuid`,
    );
  await db.execute(sql`/* rows */ insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, created_at)
    select ${id('8003', 'n')}, ${tenant}, ${id('8000', 'n % 100')}, 'main', n, 'user', 'text', 'u1', 'completed',
      json_build_array(json_build_object('type', 'text', 'text', 'common ' || case n % 4000 when 7 then 'seldom' else '' end)),
      now() + n * interval '1 second'
    from generate_series(1, ${ROWS}::int) n`);
  await db.execute(sql`/* rows */ insert into contexts (id, tenant_id) select ${id('8000', 'n')}, ${tenant}
    from generate_series(0, 99) n`);
  await db.execute(sql`/* rows */ insert into branches (context_id, name, tenant_id) select ${id('8000', 'n')}, 'main', ${tenant}
    from generate_series(0, 99) n`);
  await db.execute(sql`/* rows */ insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
    select context_id, seq, tenant_id, id, role, created_at,
      array_to_tsvector(array['@' || tenant_id, '@' || context_id]) || to_tsvector('english', content -> 0 ->> 'text')
    from messages where tenant_id = ${tenant}`);
  await db.execute(sql`/* rows */ insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, message_id, metadata, finished_at)
    select ${id('8002', 'n')}, ${tenant}, ${id('8000', 'n % 100')}, ${id('8001', 'n % 100')}, 'input', 'main', 'completed', n, ${id('8003', 'n')},
      case n % 4000 when 7 then '{"batch": "rare"}'::jsonb else jsonb_build_object('batch', 'common', 'n', n) end, now()
    from generate_series(1, ${ROWS}::int) n`);
  await db.execute(sql`/* rows */ vacuum analyze messages, branches, search_entries, jobs`);
}

type Ask = (executor: Executor) => Promise<readonly unknown[]>;

const search =
  (text: string): Ask =>
  async (executor) => {
    const filter = { reach: WHOLE_TENANT, user: null, text, contextIds: [], workerRole: null, messageRole: null };
    const whole = { ...filter, createdAfter: null, createdBefore: null };
    return (await searchStretch(executor, OURS, whole, { after: { before: null, after: null }, limit: 50 })).found;
  };
const jobs =
  (metadata: JsonObject): Ask =>
  async (executor) => {
    const filter = {
      reach: WHOLE_TENANT,
      user: null,
      statuses: null,
      kind: null,
      role: null,
      metadata,
      contextId: null,
    };
    const whole = { ...filter, workerId: null, parentJobId: null, createdAfter: null, createdBefore: null };
    return (await listJobs(executor, OURS, { filter: whole, q: null, order: NEWEST, limit: 50 })).items;
  };

/** The index that finds the rows, and how many blocks are read. */
async function planOf(database: Database, ask: Ask): Promise<{ plan: string; blocks: number }> {
  const plans: string[] = [];
  for (let times = 0; times < 2; times += 1)
    await forTenant(OURS, () => database.transaction((tx) => ask(explainingBuffers(tx, plans))));
  const plan = plans.findLast((one) => one.includes(' Scan ')) ?? '';
  const [, hit] = /Buffers: shared hit=(\d+)/.exec(plan) ?? [];
  if (hit === undefined) throw new Error(`The plan names no blocks: ${plan}`);
  return { plan, blocks: Number(hit) };
}

test.each<[string, Ask, number, RegExp]>([
  ['full text that few messages have', search('seldom'), 5, /Bitmap Index Scan on search_entries_document/],
  ['full text that all messages have', search('common'), 50, /Bitmap Index Scan on search_entries_document/],
  ['metadata that few jobs have', jobs({ batch: 'rare' }), 5, /Bitmap Index Scan on jobs_metadata/],
  ['metadata that all jobs have', jobs({ batch: 'common' }), 50, /Index Scan Backward using jobs_tenant/],
  ['metadata that no job has', jobs({ no: 'where' }), 0, /Bitmap Index Scan on jobs_metadata/],
])('by %s: the same index, and about as many blocks', async (_, ask, count, index) => {
  const found = await forTenant(OURS, () => on.transaction((tx) => ask(tx)));
  expect(found).toHaveLength(count);
  expect(found).toEqual(await off.transaction((tx) => ask(tx)));
  const [without, limited] = [await planOf(off, ask), await planOf(on, ask)];
  expect(without.plan).toMatch(index);
  expect(limited.plan).toMatch(index);
  expect(limited.blocks).toBeLessThan(without.blocks * 2 + 100);
});
