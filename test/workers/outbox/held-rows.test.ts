// Rows of suspended tenants, which wait in an outbox: they cost nothing while they wait. In a database of its own, since it is
// about plans.
import { expect, test } from 'vitest';
import { waitingRows } from '../../../src/db/outbox/outbox-rows.ts';
import { explaining, passedOver } from '../../services/explaining.ts';
import { outboxOfFile, service } from './relay-fixture.ts';

outboxOfFile();

const MANY = 20_000;

const add = (tenant: string, rows: number) => service.sql`
  insert into nightshift.outbox (job_id, context_id, tenant, submission)
  select gen_random_uuid(), gen_random_uuid(), ${tenant}, repeat('x', 1000) from generate_series(1, ${rows}::int)`;

test('none of them is read to find those of other tenants', async () => {
  await add('asleep', MANY);
  for (const tenant of ['a', 'm', 'z']) await add(tenant, 5);
  await service.sql`vacuum analyze nightshift.outbox`;
  const plans: string[] = [];
  await waitingRows(explaining(service.open().db, plans), ['asleep'], 100);
  expect(plans).toHaveLength(1);
  expect(plans[0]).toMatch(/outbox_waiting_of_tenant/);
  expect(plans[0]).not.toMatch(/Seq Scan/);
  // The names of tenants that are held are left out by a filter: one name is read.
  expect(passedOver(plans[0] ?? '')).toBeLessThan(3);
  expect(Math.max(...rowsIn(plans[0] ?? ''))).toBeLessThan(50);
});

/** The rows of each part of a plan. */
const rowsIn = (plan: string): number[] =>
  [...plan.matchAll(/rows=([\d.]+) loops=(\d+)/g)].map(([, rows, loops]) => Number(rows) * Number(loops));

test('of many other tenants only those with the first rows are read', async () => {
  const most = 10;
  await add('asleep', 5);
  for (let at = 0; at < 200; at += 1) await add(`tenant-${at}`, 2 * most);
  await service.sql`vacuum analyze nightshift.outbox`;
  const plans: string[] = [];
  await waitingRows(explaining(service.open().db, plans), ['asleep'], most);
  expect(plans).toHaveLength(1);
  // The first row of each tenant and the end of them, and the first ones of the first tenants.
  expect(Math.max(...rowsIn(plans[0] ?? ''))).toBeLessThanOrEqual(Math.max(202, most * most));
});

test('of tenants whose rows are mixed only the first ones of each are read', async () => {
  await service.sql`insert into nightshift.outbox (job_id, context_id, tenant, submission)
    select gen_random_uuid(), gen_random_uuid(), 'tenant-' || n % 3, repeat('x', 100) from generate_series(1, ${MANY}::int) n`;
  await service.sql`vacuum analyze nightshift.outbox`;
  const plans: string[] = [];
  await waitingRows(explaining(service.open().db, plans), ['asleep'], 100);
  expect(Math.max(...rowsIn(plans[0] ?? ''))).toBeLessThanOrEqual(3 * 100);
});

test('the first rows of the others are found, in the order of all of them', async () => {
  const tenants = ['z', 'asleep', 'a', 'away', 'm', 'x'.repeat(100)];
  for (let at = 0; at < 60; at += 1) await add(tenants[(at * 7) % tenants.length] ?? '', 1);
  await service.sql`update nightshift.outbox set refused_at = now(), error = '{}' where position % 11 = 0`;
  const positionsOf = async (held: string[], most: number) =>
    (await waitingRows(service.open().db, held, most)).map(({ position }) => position);
  for (const [held, most] of [
    [['asleep'], 100],
    [['asleep', 'away', 'nothing waits'], 7],
    [tenants.slice(0, 5), 100],
  ] as const) {
    const expected = await service.sql`select position::int as position from nightshift.outbox
      where refused_at is null and tenant <> all (${[...held]}) order by position limit ${most}`;
    expect(expected.length).toBeGreaterThan(6);
    expect(await positionsOf([...held], most)).toEqual(expected.map(({ position }) => position));
  }
  expect(await positionsOf([...tenants], 100)).toHaveLength(
    (await service.sql`select 1 from nightshift.outbox where refused_at is null and length(tenant) > 65`).length,
  );
});
