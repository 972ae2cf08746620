// Which tenant gets the next slot, and which run leaves its slot for another tenant.
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/core/ids.ts';
import { Shares } from '../../../src/workers/scheduling/shares.ts';

const [a, b, c] = [1, 2, 3].map((id) => id as TenantId) as [TenantId, TenantId, TenantId];

function begun(...tenants: TenantId[]): Shares {
  const shares = new Shares();
  for (const tenant of tenants) shares.begin(tenant);
  return shares;
}

test('the tenant that runs the fewest contexts is first', () => {
  const shares = begun(a, a, b, c, c);
  expect(shares.first([a, b, c])).toBe(b);
  expect(shares.first([a, c])).toBe(a);
  shares.end(c, false);
  shares.end(c, false);
  expect(shares.first([a, b, c])).toBe(c);
  expect(shares.first([])).toBeNull();
});

test('of tenants that run equally many, the one whose last start is the longest ago is first', () => {
  const shares = begun(b, a);
  expect(shares.first([a, b])).toBe(b);
  expect(shares.first([a, b, c])).toBe(c);
  shares.end(b, false);
  shares.begin(b);
  expect(shares.first([a, b])).toBe(a);
});

test('slots that become free one by one go to all tenants in turn', () => {
  const shares = begun();
  const order: TenantId[] = [];
  for (let count = 0; count < 9; count += 1) {
    const next = shares.first([a, b, c]) ?? a;
    shares.begin(next);
    order.push(next);
    shares.end(next, false);
  }
  expect(order).toEqual([a, b, c, a, b, c, a, b, c]);
});

test('a run yields to a tenant that runs fewer, once for each context that waits', () => {
  const shares = begun(a, a, a, a, b);
  expect(shares.yields(a)).toBe(false);
  shares.noteWaiting(new Map([[b, 1]]));
  expect(shares.yields(b)).toBe(false);
  expect(shares.yields(a)).toBe(true);
  expect(shares.yields(a)).toBe(false);
  shares.noteWaiting(new Map([[b, 9]]));
  // Four and one: after two of them it would be two and three.
  expect([shares.yields(a), shares.yields(a), shares.yields(a)]).toEqual([true, true, false]);
});

test('a run does not yield to its own tenant, nor to one that runs as many', () => {
  const shares = begun(a, b);
  shares.noteWaiting(
    new Map([
      [a, 5],
      [b, 5],
    ]),
  );
  expect(shares.yields(a)).toBe(false);
  expect(shares.yields(b)).toBe(false);
});

test('a tenant has slots in proportion to its weight', () => {
  const shares = begun();
  shares.setWeights(new Map([[b, 3]]));
  for (let slots = 0; slots < 8; slots += 1) {
    const next = shares.first([a, b]);
    if (next !== null) shares.begin(next);
  }
  expect([shares.running(a), shares.running(b)]).toEqual([2, 6]);
  // A run of the heavier one does not leave for the other, which has its share.
  shares.noteWaiting(new Map([[a, 1]]));
  expect(shares.yields(b)).toBe(false);
  shares.end(a, false);
  expect(shares.yields(b)).toBe(true);
});

test('a tenant that runs as many as its limit here is not first', () => {
  const shares = begun(a, b, b);
  shares.setLimits(new Map([[a, 1]]), false);
  expect([shares.isLimited(a), shares.isLimited(b)]).toEqual([true, false]);
  expect(shares.first([a, b])).toBe(b);
  expect(shares.first([a])).toBeNull();
  shares.end(a, false);
  expect(shares.first([a, b])).toBe(a);
});

test('the config file limits those that have no limit of their own', () => {
  const shares = new Shares(1);
  for (const tenant of [a, b]) shares.begin(tenant);
  shares.setLimits(new Map([[b, 2]]), false);
  expect(shares.isLimited(c)).toBe(true);
  expect(shares.first([a, b])).toBe(b);
  shares.begin(b);
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
  shares.noteWaiting(new Map([[b, 5]]));
  expect(shares.yields(a)).toBe(false);
  shares.setLimits(new Map([[b, 2]]), false);
  shares.noteWaiting(new Map([[b, 5]]));
  expect([shares.yields(a), shares.yields(a)]).toEqual([true, false]);
});
