// How often a tenant is measured, and what counts beside the measurement.
import { describe, expect, test } from 'vitest';
import { createStoredBytes } from '../../../src/api/quotas/stored-bytes.ts';
import type { TenantId } from '../../../src/core/ids.ts';

const [ONE, TWO] = [1, 2] as unknown as [TenantId, TenantId];

/** A clock, and measurements that end when the test says so. */
function opened() {
  let time = 0;
  const reads: { id: TenantId; ends: (bytes: number, tookMs?: number) => void; fails: () => void }[] = [];
  const bytes = createStoredBytes(
    (id) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      reads.push({
        id,
        ends: (found, tookMs = 0) => {
          time += tookMs;
          resolve(found);
        },
        fails: () => reject(new Error('The database is unavailable.')),
      });
      return promise;
    },
    () => time,
  );
  return {
    bytes,
    reads,
    pass: (ms: number) => void (time += ms),
    /** With one measurement, which finds this. */
    refreshed: async (found: number, tookMs = 0) => {
      const done = bytes.refresh(ONE);
      reads.at(-1)?.ends(found, tookMs);
      await done;
    },
  };
}

describe('a tenant is measured', () => {
  test('once in a second', async () => {
    const { bytes, reads, pass, refreshed } = opened();
    await refreshed(7);
    expect([bytes.measured(ONE), bytes.nextInMs(ONE)]).toEqual([7, 1_000]);
    pass(999);
    await bytes.refresh(ONE);
    expect(reads).toHaveLength(1);
    pass(1);
    expect(bytes.nextInMs(ONE)).toBe(0);
    await refreshed(8);
    expect([reads.length, bytes.measured(ONE)]).toEqual([2, 8]);
  });

  test('for a twentieth of the time, if that takes long', async () => {
    const { bytes, reads, pass, refreshed } = opened();
    await refreshed(7, 300);
    expect(bytes.nextInMs(ONE)).toBe(6_000);
    pass(5_999);
    await bytes.refresh(ONE);
    expect(reads).toHaveLength(1);
    pass(1);
    await refreshed(8);
    expect(reads).toHaveLength(2);
  });

  test('and whether that took long is known', async () => {
    const { bytes, pass, refreshed } = opened();
    await refreshed(7, 50);
    expect([bytes.isSlow(ONE), bytes.isSlow(TWO)]).toEqual([false, false]);
    pass(1_000);
    await refreshed(7, 51);
    expect(bytes.isSlow(ONE)).toBe(true);
  });

  test('together by all that ask at the same time, and apart from other tenants', async () => {
    const { bytes, reads } = opened();
    const asked = [bytes.refresh(ONE), bytes.refresh(ONE), bytes.refresh(TWO)];
    expect(reads.map(({ id }) => id)).toEqual([ONE, TWO]);
    reads[0]?.ends(5);
    reads[1]?.ends(6);
    await Promise.all(asked);
    expect([bytes.measured(ONE), bytes.measured(TWO)]).toEqual([5, 6]);
  });

  test('again a second after a measurement that failed, and until then counts what it counted', async () => {
    const { bytes, reads, pass, refreshed } = opened();
    await refreshed(100);
    bytes.begin(ONE, 30)(true);
    pass(1_000);
    const failing = bytes.refresh(ONE);
    reads.at(-1)?.fails();
    await expect(failing).rejects.toThrow('unavailable');
    expect([bytes.measured(ONE), bytes.admitted(ONE)]).toEqual([100, 30]);
    await bytes.refresh(ONE);
    expect(reads).toHaveLength(2);
    pass(1_000);
    await refreshed(130);
    expect([bytes.measured(ONE), bytes.admitted(ONE)]).toEqual([130, 0]);
  });
});

describe('what was admitted counts', () => {
  test('while it is stored, and until a measurement began after its end', async () => {
    const { bytes, pass, refreshed } = opened();
    await refreshed(100);
    const end = bytes.begin(ONE, 10);
    expect(bytes.admitted(ONE)).toBe(10);
    end(true);
    expect(bytes.admitted(ONE)).toBe(10);
    pass(1_000);
    await refreshed(110);
    expect([bytes.measured(ONE), bytes.admitted(ONE)]).toEqual([110, 0]);
  });

  test('on after a measurement that it outlasts, or during which it ends', async () => {
    const { bytes, reads, pass, refreshed } = opened();
    await refreshed(100);
    pass(1_000);
    const [outlasts, ends] = [bytes.begin(ONE, 10), bytes.begin(ONE, 20)];
    const measuring = bytes.refresh(ONE);
    ends(true);
    reads.at(-1)?.ends(120);
    await measuring;
    expect([bytes.measured(ONE), bytes.admitted(ONE)]).toEqual([120, 30]);
    outlasts(true);
    pass(1_000);
    await refreshed(130);
    expect([bytes.measured(ONE), bytes.admitted(ONE)]).toEqual([130, 0]);
  });

  test('no longer once it turned out that it is not stored', async () => {
    const { bytes, refreshed } = opened();
    await refreshed(100);
    const end = bytes.begin(ONE, 10);
    end(false);
    expect(bytes.admitted(ONE)).toBe(0);
  });

  test('of each tenant by itself, and is kept while it is under way, however old the measurement is', async () => {
    const { bytes, reads, pass, refreshed } = opened();
    await refreshed(100);
    const end = bytes.begin(ONE, 10);
    pass(1_000_000);
    const other = bytes.refresh(TWO);
    reads.at(-1)?.ends(1);
    await other;
    expect([bytes.admitted(ONE), bytes.admitted(TWO)]).toEqual([10, 0]);
    end(true);
    expect(bytes.admitted(ONE)).toBe(10);
  });
});
