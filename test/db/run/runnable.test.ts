// What the free slots of a process choose from: the first runnable contexts of each tenant.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ContextId, TenantId } from '../../../src/core/ids.ts';
import { readRunnable } from '../../../src/db/run/runnable.ts';
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

const placeOf = (contextId: string): number => Number.parseInt(contextId.slice(-12), 16) % 100_000;

test('each tenant with its first contexts, in order', async () => {
  await backlog(3, 5);
  await the.rows(`update contexts set priority = 1 where id::text like '%a4'`);
  const { byTenant, last } = await readRunnable(the.database.db, { ...ALL, perTenant: 3 });
  expect([...byTenant.keys()]).toEqual(tenants(3));
  for (const contexts of byTenant.values()) expect(contexts).toHaveLength(3);
  expect(byTenant.get(tenants(2)[1] ?? (0 as TenantId))?.map(({ contextId }) => placeOf(contextId))).toEqual([1, 2, 3]);
  expect(last).toBeNull();
});

test('a higher priority comes first', async () => {
  await backlog(1, 5);
  await the.rows(`update contexts set priority = 1 where id = '00000000-0000-7000-8000-0000000186a4'`);
  const { byTenant } = await readRunnable(the.database.db, ALL);
  expect([...byTenant.values()].flat().map(({ contextId }) => placeOf(contextId))).toEqual([4, 1, 2, 3, 5]);
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
    return [...byTenant.values()].flat().map(({ contextId }) => contextId);
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
