// Which tenant, and which of its users, gets the next slot, and which run leaves its slot for another one.
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/core/ids.ts';
import type { User, UserOrNone } from '../../../src/core/access/user.ts';
import { TenantShares } from '../../../src/workers/scheduling/tenant-shares.ts';

const [a, b, c] = [1, 2, 3].map((id) => id as TenantId) as [TenantId, TenantId, TenantId];

function begun(...tenants: TenantId[]): TenantShares {
  const shares = new TenantShares();
  for (const tenant of tenants) shares.begin(tenant, '');
  return shares;
}

/** Contexts without a user. */
function waits(...counts: [TenantId, number][]): Parameters<TenantShares['noteWaiting']>[0] {
  return new Map(counts.map(([tenant, length]) => [tenant, new Map([['' as const, { length }]])]));
}

test('the tenant that runs the fewest contexts is first', () => {
  const shares = begun(a, a, b, c, c);
  expect(shares.first([a, b, c])).toBe(b);
  expect(shares.first([a, c])).toBe(a);
  shares.end(c, '', null);
  shares.end(c, '', null);
  expect(shares.first([a, b, c])).toBe(c);
  expect(shares.first([])).toBeNull();
});

test('of tenants that run equally many, the one whose last start is the longest ago is first', () => {
  const shares = begun(b, a);
  expect(shares.first([a, b])).toBe(b);
  expect(shares.first([a, b, c])).toBe(c);
  shares.end(b, '', null);
  shares.begin(b, '');
  expect(shares.first([a, b])).toBe(a);
});

test('slots that become free one by one go to all tenants in turn', () => {
  const shares = begun();
  const order: TenantId[] = [];
  for (let count = 0; count < 9; count += 1) {
    const next = shares.first([a, b, c]) ?? a;
    shares.begin(next, '');
    order.push(next);
    shares.end(next, '', null);
  }
  expect(order).toEqual([a, b, c, a, b, c, a, b, c]);
});

test('a run yields to a tenant that runs fewer, once for each context that waits', () => {
  const shares = begun(a, a, a, a, b);
  expect(shares.yields(a, '', true)).toBeNull();
  shares.noteWaiting(waits([b, 1]));
  expect(shares.yields(b, '', true)).toBeNull();
  expect(shares.yields(a, '', true)).toBe('tenant');
  expect(shares.yields(a, '', true)).toBeNull();
  shares.noteWaiting(waits([b, 9]));
  // Four and one: after two of them it would be two and three.
  expect([shares.yields(a, '', true), shares.yields(a, '', true), shares.yields(a, '', true)]).toEqual([
    'tenant',
    'tenant',
    null,
  ]);
});

test('a run does not yield to its own tenant, nor to one that runs as many', () => {
  const shares = begun(a, b);
  shares.noteWaiting(waits([a, 5], [b, 5]));
  expect(shares.yields(a, '', true)).toBeNull();
  expect(shares.yields(b, '', true)).toBeNull();
});

test('a tenant has slots in proportion to its weight', () => {
  const shares = begun();
  shares.setWeights(new Map([[b, 3]]));
  for (let slots = 0; slots < 8; slots += 1) {
    const next = shares.first([a, b]);
    if (next !== null) shares.begin(next, '');
  }
  expect([shares.running(a), shares.running(b)]).toEqual([2, 6]);
  // A run of the heavier one does not leave for the other, which has its share.
  shares.noteWaiting(waits([a, 1]));
  expect(shares.yields(b, '', true)).toBeNull();
  shares.end(a, '', null);
  expect(shares.yields(b, '', true)).toBe('tenant');
});

test('a tenant that runs as many as its limit here is not first', () => {
  const shares = begun(a, b, b);
  shares.setLimits(new Map([[a, 1]]), false);
  expect([shares.isLimited(a), shares.isLimited(b)]).toEqual([true, false]);
  expect(shares.first([a, b])).toBe(b);
  expect(shares.first([a])).toBeNull();
  shares.end(a, '', null);
  expect(shares.first([a, b])).toBe(a);
});

test('the config file limits those that have no limit of their own', () => {
  const shares = new TenantShares(1);
  for (const tenant of [a, b]) shares.begin(tenant, '');
  shares.setLimits(new Map([[b, 2]]), false);
  expect(shares.isLimited(c)).toBe(true);
  expect(shares.first([a, b])).toBe(b);
  shares.begin(b, '');
  expect(shares.first([a, b])).toBeNull();
});

test('limits may be missing only while they are told in parts', () => {
  const shares = begun();
  shares.setLimits(new Map(), true);
  expect(shares.areLimitsCut).toBe(true);
  shares.setLimits(new Map(), false);
  expect(shares.areLimitsCut).toBe(false);
});

test('no run yields to a tenant that its limit keeps from the slot', () => {
  const shares = begun(a, a, a, b);
  shares.setLimits(new Map([[b, 1]]), false);
  shares.noteWaiting(waits([b, 5]));
  expect(shares.yields(a, '', true)).toBeNull();
  shares.setLimits(new Map([[b, 2]]), false);
  shares.noteWaiting(waits([b, 5]));
  expect([shares.yields(a, '', true), shares.yields(a, '', true)]).toEqual(['tenant', null]);
});

const [ann, bob] = ['ann' as User, 'bob' as User];
const ALL: UserOrNone[] = ['', ann, bob];

test('slots that become free one by one go to all users of a tenant in turn, also to contexts without one', () => {
  const shares = begun();
  const order: (UserOrNone | null)[] = [];
  for (let count = 0; count < 6; count += 1) {
    const next = shares.firstUser(a, ALL);
    order.push(next);
    shares.begin(a, next ?? '');
    shares.end(a, next ?? '', null);
    // What runs for the same name at another tenant does not count.
    shares.begin(b, ann);
  }
  expect(order).toEqual(['', ann, bob, '', ann, bob]);
  expect(shares.firstUser(a, [])).toBeNull();
});

test('the user that runs the fewest contexts is first', () => {
  const shares = begun();
  for (const user of [bob, ann, ann, '' as const]) shares.begin(a, user);
  expect(shares.firstUser(a, ALL)).toBe(bob);
  shares.begin(a, bob);
  shares.begin(a, '');
  shares.end(a, ann, null);
  expect(shares.firstUser(a, ALL)).toBe(ann);
});

test('a run leaves its slot to another user of its tenant who runs fewer, once for each context that waits', () => {
  const shares = begun();
  for (let count = 0; count < 3; count += 1) shares.begin(a, ann);
  const waiting = (...counts: [UserOrNone, number][]) =>
    shares.noteWaiting(new Map([[a, new Map(counts.map(([user, length]) => [user, { length }]))]]));
  waiting([ann, 9]);
  expect(shares.yields(a, ann, true)).toBeNull();
  waiting([ann, 9], [bob, 1]);
  expect([shares.yields(a, ann, true), shares.yields(a, ann, true)]).toEqual(['user', null]);
  shares.end(a, ann, 'user');
  shares.begin(a, bob);
  waiting([bob, 9]);
  // Two and one: after it, one and two.
  expect([shares.yields(a, ann, true), shares.yields(a, ann, true), shares.yields(a, bob, true)]).toEqual([
    'user',
    null,
    null,
  ]);
});

test('a run leaves its slot to another tenant only, where the slot would go to no user of its own', () => {
  const shares = begun();
  for (let count = 0; count < 3; count += 1) shares.begin(a, ann);
  shares.noteWaiting(new Map([[a, new Map([[bob, { length: 1 }]])]]));
  expect(shares.yields(a, ann, false)).toBeNull();
  shares.noteWaiting(waits([b, 1]));
  expect(shares.yields(a, ann, false)).toBe('tenant');
});

test('new users are behind those that wait already, however many they are', () => {
  const shares = begun();
  shares.begin(a, ann);
  shares.end(a, ann, null);
  const waiting = new Set<UserOrNone>([ann]);
  const served: (UserOrNone | null)[] = [];
  for (let n = 0; n < 4; n += 1) {
    // In each list one more; one of them all is served, and new ones have no second context.
    waiting.add(`new ${n}` as User);
    shares.noteWaiting(new Map([[a, new Map([...waiting].reverse().map((user) => [user, { length: 1 }]))]]));
    const next = shares.firstUser(a, [...waiting].reverse()) ?? '';
    served.push(next);
    shares.begin(a, next);
    shares.end(a, next, null);
    if (next !== ann) waiting.delete(next);
  }
  expect(served).toEqual([ann, 'new 0', ann, 'new 1']);
});

test('what waited when it was noted counts for a tenant that begins later', () => {
  const shares = begun();
  shares.noteWaiting(new Map([[a, new Map([[bob, { length: 1 }]])]]));
  for (let count = 0; count < 2; count += 1) shares.begin(a, ann);
  expect(shares.yields(a, ann, true)).toBe('user');
});

test('a user who waits in no list any more is left no slot', () => {
  const shares = begun();
  for (let count = 0; count < 3; count += 1) shares.begin(a, ann);
  shares.noteWaiting(new Map([[a, new Map([[bob, { length: 1 }]])]]));
  shares.noteWaiting(waits([b, 1]));
  shares.begin(b, '');
  expect(shares.yields(a, ann, true)).toBeNull();
});

test('a slot that is left to a user does not count as left to a tenant', () => {
  const shares = begun(b, b);
  for (let count = 0; count < 4; count += 1) shares.begin(a, ann);
  shares.noteWaiting(new Map([[a, new Map([[bob, { length: 2 }]])], ...waits([b, 1])]));
  expect(shares.yields(a, ann, true)).toBe('tenant');
  expect(shares.yields(a, ann, true)).toBe('user');
  shares.end(a, ann, 'user');
  // Three run, and one of them leaves: as many as those of the other tenant, which was promised one.
  expect(shares.yields(a, ann, true)).toBe('user');
});

test('users of tenants that run nothing are forgotten, those of others are not', () => {
  const shares = begun();
  shares.begin(a, ann);
  for (let n = 0; n < 2_000; n += 1) {
    const other = (100 + n) as TenantId;
    shares.begin(other, ann);
    shares.end(other, ann, null);
  }
  expect(shares.firstUser(a, [ann, bob])).toBe(bob);
  expect(shares.firstUser(100 as TenantId, [ann, bob])).toBe(ann);
  expect(shares.firstUser(2_099 as TenantId, [ann, bob])).toBe(bob);
});
