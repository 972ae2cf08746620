// The lists of runnable contexts that a process reads one after the other: all tenants and users have their turn.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TenantId } from '../../../src/core/ids.ts';
import { createReader } from '../../../src/workers/scheduling/runnable-reader.ts';
import { given, type Given } from '../../db/database-fixture.ts';
import { workerState } from '../../db/worker-state.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(() => the.rows('truncate contexts, processes cascade'));

const ASKED = { perTenant: 10, onlyOverdue: false };
const TENANT = 1_000 as TenantId;

const reader = () => createReader({ ...workerState(the), identity: () => 'a process' });

/** A context of each user of each tenant: `u00`, `u01` and so on. */
async function backlog(tenants: number, users: number): Promise<void> {
  await the.database.db.execute(sql`
    insert into contexts (id, tenant_id, user_name, scheduling_status, queued, wake_seq, next_check_at)
    select gen_random_uuid(), 999 + t, 'u' || lpad((n - 1)::text, 2, '0'), 'runnable', 1, 1, now()
    from generate_series(1, ${tenants}::int) t, generate_series(1, ${users}::int) n`);
}

const named = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `u${String(from + n).padStart(2, '0')}`);

test('each list goes on with the users that the one before had no place for', async () => {
  await backlog(1, 25);
  const read = reader();
  const lists: string[][] = [];
  for (let count = 0; count < 4; count += 1) {
    const { byTenant, hasMore } = await read(ASKED);
    expect(hasMore).toBe(true);
    lists.push([...(byTenant.get(TENANT)?.keys() ?? [])]);
  }
  const [first, second, third, fourth] = [
    named(0, 10),
    named(10, 20),
    [...named(20, 25), ...named(0, 5)],
    named(5, 15),
  ];
  expect(lists).toEqual([first, second, third, fourth]);
});

test('a tenant goes on where it left off, also after a time in which it had its limit of slots', async () => {
  await backlog(1, 25);
  await the.rows(`insert into tenants (id, name, limits) values (${TENANT}, 'limited', '{"slots": 1}')`);
  const read = reader();
  expect([...((await read(ASKED)).byTenant.get(TENANT)?.keys() ?? [])]).toEqual(named(0, 10));
  const owner = await the.process();
  await the.rows(`update contexts set scheduling_status = 'running', lease_owner = '${owner}', next_check_at = null
    where user_name = 'u24'`);
  expect((await read(ASKED)).byTenant.size).toBe(0);
  await the.rows(`update contexts set scheduling_status = 'runnable', lease_owner = null, next_check_at = now()
    where user_name = 'u24'`);
  expect([...((await read(ASKED)).byTenant.get(TENANT)?.keys() ?? [])]).toEqual(named(10, 20));
  await the.rows(`delete from tenants where id = ${TENANT}`);
});

test('once all users of a tenant fit, its list begins with the first again', async () => {
  await backlog(1, 25);
  const read = reader();
  await read(ASKED);
  await the.rows(`delete from contexts where user_name >= 'u08'`);
  for (let count = 0; count < 2; count += 1)
    expect([...((await read(ASKED)).byTenant.get(TENANT)?.keys() ?? [])].sort()).toEqual(named(0, 8));
  expect((await read(ASKED)).hasMore).toBe(false);
});

test('more tenants than fit into one list are in the next one, and then the first ones again', async () => {
  await backlog(600, 1);
  const read = reader();
  const sizes: number[] = [];
  for (let count = 0; count < 3; count += 1) sizes.push((await read(ASKED)).byTenant.size);
  expect(sizes).toEqual([500, 100, 500]);
});

test('a process that was declared dead lists nothing', async () => {
  await backlog(1, 1);
  const read = createReader({ ...workerState(the), identity: () => null });
  expect((await read(ASKED)).byTenant.size).toBe(0);
});
