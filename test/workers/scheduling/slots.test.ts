// Slots: how many contexts a process runs at once, and the reserved ones beyond.
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/core/ids.ts';
import type { User } from '../../../src/core/access/user.ts';
import { Slots } from '../../../src/workers/scheduling/slots.ts';
import { TenantShares } from '../../../src/workers/scheduling/tenant-shares.ts';

const TENANT = 7 as TenantId;

test('who waits gets the slots that become free, in order; after the end, nothing', async () => {
  const slots = new Slots(new TenantShares(), 1);
  const first = await slots.take();
  const order: string[] = [];
  const second = slots.take().then((slot) => (order.push('second'), slot));
  const third = slots.take().then((slot) => (order.push('third'), slot));
  expect(slots.takeFree()).toBeNull();
  first?.give();
  expect(slots.takeFree()).toBeNull();
  (await second)?.give();
  await third;
  expect(order).toEqual(['second', 'third']);
  const fourth = slots.take();
  slots.close();
  expect(await fourth).toBeNull();
  expect(await slots.take()).toBeNull();
  expect(slots.takeFree()).toBeNull();
});

test('reserved slots are given only while all others are taken, and count until they are returned', async () => {
  const slots = new Slots(new TenantShares(), 1, 2);
  expect(slots.takeReserved()).toBeNull();
  const own = slots.takeFree();
  const [one, other] = [slots.takeReserved(), slots.takeReserved()];
  expect(one).not.toBeNull();
  expect(other).not.toBeNull();
  expect(slots.takeReserved()).toBeNull();
  expect(slots.running).toBe(3);
  own?.give();
  expect(slots.free).toBe(0);
  const waits = slots.take();
  one?.give();
  expect(slots.free).toBe(0);
  other?.give();
  expect(await waits).not.toBeNull();
  expect(slots.running).toBe(1);
});

test('a slot counts for the tenant that it serves last', () => {
  const shares = new TenantShares();
  const slots = new Slots(shares, 2);
  const slot = slots.takeFree();
  slot?.serve(TENANT, '');
  slot?.serve(TENANT, '');
  expect(shares.running(TENANT)).toBe(1);
  const other = 8 as TenantId;
  slot?.serve(other, '');
  expect([shares.running(TENANT), shares.running(other)]).toEqual([0, 1]);
  slot?.give();
  expect(shares.running(other)).toBe(0);
});

test('a process is busy while all slots are taken, and for a moment after', async () => {
  const slots = new Slots(new TenantShares(), 2);
  const first = slots.takeFree();
  expect(slots.areBusy).toBe(false);
  const second = slots.takeFree();
  expect(slots.areBusy).toBe(true);
  first?.give();
  second?.give();
  expect(slots.areBusy).toBe(true);
  await expect.poll(() => slots.areBusy).toBe(false);
});

test('a slot counts for the user that it serves last, and is left once', () => {
  const shares = new TenantShares();
  const slots = new Slots(shares, 2);
  const [ann, bob] = ['ann' as User, 'bob' as User];
  const [slot, other] = [slots.takeFree(), slots.takeFree()];
  slot?.serve(TENANT, bob);
  slot?.serve(TENANT, ann);
  other?.serve(TENANT, ann);
  expect(shares.running(TENANT)).toBe(2);
  expect(shares.firstUser(TENANT, [ann, bob])).toBe(bob);
  shares.noteWaiting(new Map([[TENANT, new Map([[bob, { length: 1 }]])]]));
  expect([slot?.yields(), slot?.yields(), other?.yields()]).toEqual([true, true, false]);
  slot?.give();
  expect(shares.running(TENANT)).toBe(1);
  // A slot is free: no run has to leave its own.
  shares.noteWaiting(new Map([[TENANT, new Map([[bob, { length: 1 }]])]]));
  expect(other?.yields()).toBe(false);
});
