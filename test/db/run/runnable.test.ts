// What the free slots of a process choose from: the first runnable contexts of each user of each tenant.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { User, UserOrNone } from '../../../src/core/access/user.ts';
import type { ContextId, TenantId } from '../../../src/core/ids.ts';
import { readRunnable, type Runnable, type Waiting } from '../../../src/db/run/runnable.ts';
import { explaining, passedOver } from '../../services/explaining.ts';
import { given, ids, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
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

const listed = (waiting: Waiting): Runnable[] => [...waiting.values()].flatMap((byUser) => [...byUser.values()].flat());

const placeOf = (contextId: string): number => Number.parseInt(contextId.slice(-12), 16) % 100_000;

test('each tenant with its first contexts, in order', async () => {
  await backlog(3, 5);
  await the.rows(`update contexts set priority = 1 where id::text like '%a4'`);
  const { waiting, last, hasMore } = await readRunnable(the.database.db, { ...ALL, perTenant: 3 });
  expect([...waiting.keys()]).toEqual(tenants(3));
  for (const byUser of waiting.values()) expect(byUser.get('')).toHaveLength(3);
  const second = waiting.get(tenants(2)[1] ?? (0 as TenantId))?.get('');
  expect(second?.map(({ contextId }) => placeOf(contextId))).toEqual([1, 2, 3]);
  expect({ last, hasMore }).toEqual({ last: null, hasMore: true });
  expect((await readRunnable(the.database.db, { ...ALL, perTenant: 6 })).hasMore).toBe(false);
});

test('a higher priority comes first', async () => {
  await backlog(1, 5);
  await the.rows(`update contexts set priority = 1 where id = '00000000-0000-7000-8000-0000000186a4'`);
  const { waiting } = await readRunnable(the.database.db, ALL);
  expect(listed(waiting).map(({ contextId }) => placeOf(contextId))).toEqual([4, 1, 2, 3, 5]);
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
    const { waiting } = await readRunnable(the.database.db, { ...ALL, passBy, ...asked });
    return listed(waiting).map(({ contextId }) => contextId);
  };
  expect((await found({})).sort()).toEqual([fresh.contextId, overdue.contextId].sort());
  expect(await found({ onlyOverdue: true })).toEqual([overdue.contextId]);
  await the.submit(unsupported.contextId);
  expect(await found({ onlyOverdue: true })).toContain(unsupported.contextId);
});

test('more tenants than fit into one answer are in the next one', async () => {
  await backlog(700, 1);
  const first = await readRunnable(the.database.db, ALL);
  expect(first.waiting.size).toBe(500);
  const second = await readRunnable(the.database.db, { ...ALL, after: first.last });
  expect(second.waiting.size).toBe(200);
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
  const scans = [...plan.matchAll(/Scan using contexts_\S+ on contexts.*rows=(\d+) loops=(\d+)/g)];
  expect(scans).not.toEqual([]);
  return scans.reduce((sum, [, rows, loops]) => sum + Number(rows) * Number(loops), 0);
}

/** Users of the tenant, as many as `contexts` in all: `u000`, `u001` and so on, and one of them without a name. */
async function withUsers(users: number): Promise<void> {
  await the.rows(`update contexts set user_name = case when n = 0 then '' else 'u' || lpad(n::text, 3, '0') end from (
    select id, (row_number() over (order by id) - 1) % ${users} as n from contexts) numbered where numbered.id = contexts.id`);
}

const countsOf = (byUser: Map<UserOrNone, Runnable[]> | undefined) =>
  [...(byUser ?? [])].map(([user, { length }]) => [user, length]);

test('the users of a tenant have equal parts of its list, however much one of them has waiting', async () => {
  await backlog(1, 100);
  await the.rows(`update contexts set user_name = 'mass'`);
  await the.rows(`update contexts set user_name = 'one' where id = '00000000-0000-7000-8000-000000018703'`);
  const { waiting, hasMore, afterUser } = await readRunnable(the.database.db, { ...ALL, perTenant: 30 });
  // Contexts without a user count as a user, also if there are none.
  expect(countsOf(waiting.get(tenants(1)[0] ?? (0 as TenantId)))).toEqual([
    ['mass', 10],
    ['one', 1],
  ]);
  expect({ hasMore, users: afterUser.size }).toEqual({ hasMore: true, users: 0 });
});

test('more users than fit into one answer have their turn in the next ones, and then the first ones again', async () => {
  await backlog(1, 50);
  await withUsers(25);
  const tenant = tenants(1)[0] ?? (0 as TenantId);
  const turns: UserOrNone[][] = [];
  let afterUser: ReadonlyMap<TenantId, UserOrNone> = new Map();
  for (let count = 0; count < 3; count += 1) {
    const found = await readRunnable(the.database.db, { ...ALL, afterUser });
    turns.push([...(found.waiting.get(tenant)?.keys() ?? [])]);
    expect(found.hasMore).toBe(true);
    ({ afterUser } = found);
  }
  const user = (n: number): UserOrNone => (n % 25 === 0 ? '' : (`u${String(n % 25).padStart(3, '0')}` as User));
  expect(turns).toEqual([0, 10, 20].map((from) => Array.from({ length: 10 }, (_, n) => user(from + n))));
});

test('a user who has nothing that may start now does not keep others from their turn', async () => {
  await backlog(1, 20);
  await withUsers(20);
  await the.rows(`update contexts set next_check_at = now() + interval '1 hour' where user_name < 'u010'`);
  const asked = { ...ALL, onlyOverdue: true };
  const first = await readRunnable(the.database.db, asked);
  expect(listed(first.waiting)).toEqual([]);
  const second = await readRunnable(the.database.db, { ...asked, afterUser: first.afterUser });
  expect(listed(second.waiting)).toHaveLength(10);
});

test('reads what it answers, however many users wait', async () => {
  await backlog(5, 2_000);
  await withUsers(400);
  await the.rows('vacuum analyze contexts');
  const plans: string[] = [];
  const afterUser = new Map(tenants(5).map((tenant) => [tenant, 'u398' as User]));
  const asked = { ...ALL, perTenant: 20, afterUser };
  expect(listed((await readRunnable(the.database.db, asked)).waiting)).toHaveLength(100);
  await readRunnable(explaining(the.database.db, plans), asked);
  expect(plans[0]).not.toMatch(/Seq Scan on contexts/);
  expect(passedOver(plans[0] ?? '')).toBeLessThan(10);
  // For each tenant 20 contexts, and a look at each of the users, and at the first tenant and user after each.
  expect(rowsRead(plans[0] ?? '')).toBeLessThan(5 * 50);
});
