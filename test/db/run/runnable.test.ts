// What the free slots of a process choose from: the first runnable contexts of each user of each tenant.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { User, UserOrNone } from '../../../src/core/access/user.ts';
import type { ContextId, TenantId } from '../../../src/core/ids.ts';
import type { Passed } from '../../../src/db/run/passed.ts';
import { readRunnable, type Runnable, type RunnableByTenant } from '../../../src/db/run/runnable.ts';
import { explaining, explainingJit, passedOver } from '../../services/explaining.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';

let the: Given;
beforeAll(async () => {
  the = await given(createFreshDatabase);
});
afterAll(() => the.close());
beforeEach(() => the.rows('truncate contexts, processes cascade'));

const ALL = { after: null, perTenant: 10, onlyOverdue: false, passBy: [] };
const tenants = (count: number) => Array.from({ length: count }, (_, n) => (1_000 + n) as TenantId);

/** `each` runnable contexts of each tenant: one a second, from the oldest on; their wake-ups should have arrived. */
async function backlog(count: number, each: number): Promise<void> {
  await the.database.db.execute(sql`
    insert into contexts (id, tenant_id, scheduling_status, queued, wake_seq, next_check_at)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(t * 100000 + n), 12, '0'))::uuid, 999 + t, 'runnable', 1, 1,
      now() - interval '1 day' + n * interval '1 second'
    from generate_series(1, ${count}::int) t, generate_series(1, ${each}::int) n`);
}

const TENANT = 1_000 as TenantId;

const listed = (byTenant: RunnableByTenant): Runnable[] =>
  [...byTenant.values()].flatMap((byUser) => [...byUser.values()].flat());

const placeOf = (contextId: string): number => Number.parseInt(contextId.slice(-12), 16) % 100_000;

test('each tenant with its first contexts, in order', async () => {
  await backlog(3, 5);
  await the.rows(`update contexts set priority = 1 where id::text like '%a4'`);
  const { byTenant, last, hasMore } = await readRunnable(the.database.db, { ...ALL, perTenant: 3 });
  expect([...byTenant.keys()]).toEqual(tenants(3));
  for (const byUser of byTenant.values()) expect(byUser.get('')).toHaveLength(3);
  const second = byTenant.get(tenants(2)[1] ?? (0 as TenantId))?.get('');
  expect(second?.map(({ contextId }) => placeOf(contextId))).toEqual([1, 2, 3]);
  expect({ last, hasMore }).toEqual({ last: null, hasMore: true });
  expect((await readRunnable(the.database.db, { ...ALL, perTenant: 6 })).hasMore).toBe(false);
});

test('a higher priority comes first', async () => {
  await backlog(1, 5);
  await the.rows(`update contexts set priority = 1 where id = '00000000-0000-7000-8000-0000000186a4'`);
  const { byTenant } = await readRunnable(the.database.db, ALL);
  expect(listed(byTenant).map(({ contextId }) => placeOf(contextId))).toEqual([4, 1, 2, 3, 5]);
});

test('only what runs nowhere, is overdue if asked, and is not passed by', async () => {
  const [running, fresh, unsupported, overdue] = await Promise.all([1, 2, 3, 4].map(() => the.context()));
  for (const { contextId } of [running, fresh, unsupported, overdue].flatMap((one) => one ?? []))
    await the.submit(contextId);
  if (running === undefined || unsupported === undefined || overdue === undefined || fresh === undefined) return;
  await the.claimed(running.contextId);
  await the.rows(`update contexts set next_check_at = now() - interval '1 second'
    where id in ('${unsupported.contextId}', '${overdue.contextId}')`);
  const passBy = [{ contextId: unsupported.contextId, wakeSeq: 1, controlSeq: 0 }];
  const found = async (asked: Partial<typeof ALL>) => {
    const { byTenant } = await readRunnable(the.database.db, { ...ALL, passBy, ...asked });
    return listed(byTenant).map(({ contextId }) => contextId);
  };
  expect((await found({})).sort()).toEqual([fresh.contextId, overdue.contextId].sort());
  expect(await found({ onlyOverdue: true })).toEqual([overdue.contextId]);
  await the.submit(unsupported.contextId);
  expect(await found({ onlyOverdue: true })).toContain(unsupported.contextId);
});

test('more tenants than fit into one answer are in the next one', async () => {
  await backlog(700, 1);
  const first = await readRunnable(the.database.db, ALL);
  expect(first.byTenant.size).toBe(500);
  const second = await readRunnable(the.database.db, { ...ALL, after: first.last });
  expect(second.byTenant.size).toBe(200);
  expect(second.last).toBeNull();
});

test('reads what it answers, however many wait and run', async () => {
  await backlog(20, 1_000);
  await the.rows(`insert into contexts (id, tenant_id, scheduling_status, next_check_at)
    select gen_random_uuid(), 999 + n % 20, 'waiting', now() + interval '1 day' from generate_series(1, 20000) n`);
  await the.rows('vacuum analyze contexts');
  const plans: string[] = [];
  const passBy = [{ contextId: ids.next<ContextId>(), wakeSeq: 1, controlSeq: 0 }];
  await readRunnable(explaining(the.database.db, plans), { ...ALL, perTenant: 5, onlyOverdue: true, passBy });
  expect(plans[0]).toMatch(/Index (Only )?Scan using contexts_runnable/);
  expect(plans[0]).not.toMatch(/Seq Scan on contexts/);
  expect(passedOver(plans[0] ?? '')).toBeLessThan(10);
});

/** Entries of indexes over contexts that were read. */
function rowsRead(plan: string): number {
  const scans = [...plan.matchAll(/Scan using contexts_\S+ on contexts.*actual rows=(\d+) loops=(\d+)/g)];
  expect(scans).not.toEqual([]);
  return scans.reduce((sum, [, rows, loops]) => sum + Number(rows) * Number(loops), 0);
}

/** Users of the tenant, as many as `contexts` in all: `u000`, `u001` and so on, and one of them without a name. */
async function withUsers(users: number): Promise<void> {
  await the.rows(`update contexts set user_name = case when n = 0 then '' else 'u' || lpad(n::text, 3, '0') end from (
    select id, (row_number() over (order by id) - 1) % ${users} as n from contexts) numbered where numbered.id = contexts.id`);
}

const countsOf = (byUser: Map<UserOrNone, Runnable[]> | undefined) =>
  [...(byUser ?? [])].map(([user, { length }]) => [user, length] as const);

test('users have the first places of the list in turn, and its rest is for those who have more', async () => {
  await backlog(1, 100);
  await the.rows(`update contexts set user_name = 'mass'`);
  await the.rows(`update contexts set user_name = 'one' where id = '00000000-0000-7000-8000-000000018703'`);
  const { byTenant, hasMore, lastUsers } = await readRunnable(the.database.db, { ...ALL, perTenant: 30 });
  expect([...countsOf(byTenant.get(TENANT))]).toEqual([
    ['mass', 29],
    ['one', 1],
  ]);
  expect(listed(byTenant).length).toBe(30);
  expect({ hasMore, lastUsers }).toEqual({ hasMore: true, lastUsers: new Map([[TENANT, null]]) });
});

test('where many users wait, one of them who has much is listed a few times', async () => {
  await backlog(1, 100);
  await withUsers(10);
  await the.rows(
    `update contexts set user_name = 'u001' where user_name <> '' and id > '00000000-0000-7000-8000-0000000186b4'`,
  );
  const { byTenant } = await readRunnable(the.database.db, { ...ALL, perTenant: 40 });
  const counts = new Map(countsOf(byTenant.get(TENANT)));
  expect([...counts.keys()]).toHaveLength(10);
  expect(counts.get('u001' as User)).toBeGreaterThanOrEqual(12);
  expect(counts.get('u002' as User)).toBe(2);
});

test('more users than fit into one answer have their turn in the next ones, and then the first ones again', async () => {
  await backlog(1, 50);
  await withUsers(25);
  const turns: UserOrNone[][] = [];
  const afterUser = new Map<TenantId, UserOrNone>();
  for (let count = 0; count < 3; count += 1) {
    const found = await readRunnable(the.database.db, { ...ALL, afterUser });
    turns.push([...(found.byTenant.get(TENANT)?.keys() ?? [])]);
    expect(found.hasMore).toBe(true);
    const last = found.lastUsers.get(TENANT) ?? null;
    if (last !== null) afterUser.set(TENANT, last);
  }
  const user = (n: number): UserOrNone => (n % 25 === 0 ? '' : (`u${String(n % 25).padStart(3, '0')}` as User));
  expect(turns).toEqual([0, 10, 20].map((from) => Array.from({ length: 10 }, (_, n) => user(from + n))));
});

test('users who have nothing that may start now are passed by, also if the caller supports nothing of theirs', async () => {
  await backlog(1, 30);
  await withUsers(30);
  await the.rows(`update contexts set next_check_at = now() + interval '1 hour' where user_name < 'u010'`);
  const passBy = (
    await the.rows(`select id as "contextId", wake_seq::int as "wakeSeq", control_seq::int as "controlSeq" from contexts
      where user_name between 'u010' and 'u019'`)
  ).map((row) => row as { contextId: ContextId; wakeSeq: number; controlSeq: number });
  expect(passBy).toHaveLength(10);
  const { byTenant } = await readRunnable(the.database.db, { ...ALL, perTenant: 3, onlyOverdue: true, passBy });
  expect([...(byTenant.get(TENANT)?.keys() ?? [])]).toEqual(['u020', 'u021', 'u022']);
});

test('a tenant that does not fit whole is in the next answer', async () => {
  await backlog(90, 60);
  const first = await readRunnable(the.database.db, { ...ALL, perTenant: 64 });
  expect([...first.byTenant.values()].map((byUser) => byUser.get('')?.length)).toEqual(
    Array.from({ length: 83 }, () => 60),
  );
  const second = await readRunnable(the.database.db, { ...ALL, perTenant: 64, after: first.last });
  expect([...second.byTenant.keys()]).toEqual(tenants(90).slice(83));
});

const one: Passed = { contextId: ids.next<ContextId>(), wakeSeq: 1, controlSeq: 0 };

test.each([
  { users: 400, passBy: [] },
  { users: 400, passBy: [one] },
  { users: 5, passBy: [] },
  { users: 5, passBy: [one] },
])('reads what it answers, however many wait: of each of five tenants $users users', async ({ users, passBy }) => {
  const afterUser = new Map(tenants(5).map((tenant) => [tenant, `u${String(users - 2).padStart(3, '0')}` as User]));
  const asked = { ...ALL, perTenant: 20, afterUser, passBy };
  // Also before PostgreSQL has any statistics, and where they are from a time when the tenants had no users.
  for (const known of ['nothing', 'no users', 'all'] as const) {
    await the.rows('alter table contexts set (autovacuum_enabled = false)');
    if (known === 'no users') {
      await the.rows('truncate contexts cascade');
      await backlog(5, 2_000);
      await the.rows('analyze contexts');
    }
    await the.rows('truncate contexts cascade');
    await backlog(5, 2_000);
    await withUsers(users);
    if (known === 'all') await the.rows('vacuum analyze contexts');
    const plans: string[] = [];
    expect(listed((await readRunnable(the.database.db, asked)).byTenant)).toHaveLength(100);
    await readRunnable(explainingJit(the.database.db, plans), asked);
    expect(plans[0], known).not.toMatch(/(?:Seq|Bitmap Heap) Scan on contexts.*actual rows/);
    expect(plans[0], known).not.toContain('JIT');
    expect(passedOver(plans[0] ?? ''), known).toBeLessThan(10);
    // For each tenant a look at each of 20 users, at one context of each, and at a few contexts of each.
    expect(rowsRead(plans[0] ?? ''), known).toBeLessThan(5 * 20 * 8);
  }
});
