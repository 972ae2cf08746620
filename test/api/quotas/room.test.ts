// Room for jobs, workers and content of a tenant: what waits for a count, and what counts beside it.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createRooms, type Rooms } from '../../../src/api/quotas/room.ts';
import { RequestRefused } from '../../../src/api/response/problem.ts';
import { quotaExceeded, type TenantLimits } from '../../../src/core/access/quotas.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import type { Refusal } from '../../../src/core/errors.ts';

const MB = 1024 * 1024;
const ONE_MB: TenantLimits = { stored_mb: 1 };

/** Content of about so many bytes. */
const text = (bytes: number) => [{ type: 'text' as const, text: 'x'.repeat(bytes) }];

type Measurement = { ends: (bytes: number, tookMs?: number) => void; fails: () => void };

/** A clock that stands still unless the test moves it, and measurements that end when the test says so. */
function opened(queuedJobs = 0) {
  let time = 0;
  const measurements: Measurement[] = [];
  let counts = 0;
  const rooms = createRooms(
    {
      usage: async () => {
        counts += 1;
        return { queuedJobs, workers: 0 };
      },
      storedBytes: () => {
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        const ends = (bytes: number, tookMs = 0) => {
          time += tookMs;
          resolve(bytes);
        };
        measurements.push({ ends, fails: () => reject(new Error('The database is unavailable.')) });
        return promise;
      },
    },
    () => time,
  );
  return { rooms, measurements, counts: () => counts, pass: (ms: number) => void (time += ms) };
}

const tenant = (limits: TenantLimits = ONE_MB) => ({ tenantId: 1 as TenantId, limits });

/** Why it is refused; null: it is accepted. */
const admitted = (rooms: Rooms, bytes: number, limits?: TenantLimits): Promise<Refusal | null> =>
  rooms.admit(tenant(limits), { content: text(bytes) }, async (full) => full);

describe('the first measurement', () => {
  test('is waited for, by all that ask', async () => {
    const { rooms, measurements } = opened();
    const both = Promise.all([admitted(rooms, 100), admitted(rooms, 100)]);
    expect(measurements).toHaveLength(1);
    measurements[0]?.ends(MB);
    const refusals = await both;
    expect(refusals.map((refusal) => refusal?.param)).toEqual(['stored_mb', 'stored_mb']);
  });

  test('that fails admits nothing, and is not repeated before its time', async () => {
    const { rooms, measurements, pass } = opened();
    const first = admitted(rooms, 100);
    pass(200);
    measurements[0]?.fails();
    await expect(first).rejects.toThrow('unavailable');
    pass(3_999);
    await expect(admitted(rooms, 100)).rejects.toThrow('unavailable');
    expect(measurements).toHaveLength(1);
    pass(1);
    const next = admitted(rooms, 100);
    measurements[1]?.ends(0);
    expect(await next).toBeNull();
  });
});

/** Measured once, in so many milliseconds. */
async function measured(bytes: number, tookMs = 0) {
  const made = opened();
  const first = admitted(made.rooms, 1_000);
  made.measurements[0]?.ends(bytes, tookMs);
  expect(await first).toBeNull();
  return made;
}

describe('a slow measurement', () => {
  test('is not waited for by a request that has room as far as is known', async () => {
    const { rooms, measurements, pass } = await measured(0, 60);
    pass(2_000);
    expect(await admitted(rooms, 1_000)).toBeNull();
    expect(measurements).toHaveLength(2);
    // Nor does its failure concern that request.
    measurements[1]?.fails();
    expect(await admitted(rooms, 1_000)).toBeNull();
  });

  test('is waited for by one that has none, or whose size is not known', async () => {
    const { rooms, measurements, pass } = await measured(0.5 * MB, 60);
    pass(2_000);
    const large = admitted(rooms, 0.6 * MB);
    const unknown = rooms.admit(tenant(), { content: 'unknown' }, async (full) => full);
    expect(measurements).toHaveLength(2);
    measurements[1]?.ends(0);
    expect(await Promise.all([large, unknown])).toEqual([null, null]);
  });
});

describe('what counts until the next measurement', () => {
  test('is what was stored, and not what was refused for another reason', async () => {
    const { rooms, measurements } = await measured(0);
    const refused = () =>
      rooms.admit(tenant(), { content: text(0.9 * MB) }, async () => {
        throw new RequestRefused(quotaExceeded('workers', 'Another reason.'));
      });
    for (let count = 0; count < 3; count += 1) await expect(refused()).rejects.toThrow(RequestRefused);
    expect(await admitted(rooms, 0.9 * MB)).toBeNull();
    expect(measurements).toHaveLength(1);
  });

  test('is also what may have been stored, when its request failed', async () => {
    const { rooms, measurements, pass } = await measured(0);
    const cut = rooms.admit(tenant(), { content: text(0.9 * MB) }, async () => {
      throw new Error('The connection was cut.');
    });
    await expect(cut).rejects.toThrow('cut');
    const waits = admitted(rooms, 0.9 * MB);
    // It waits for the time of the next measurement.
    await setImmediate();
    pass(1_000);
    await expect.poll(() => measurements.length).toBe(2);
    measurements[1]?.ends(0);
    expect(await waits).toBeNull();
  });

  test('is the size that was reserved last', async () => {
    const { rooms } = await measured(0);
    const reserved: (string | null | undefined)[] = [];
    await rooms.admit(tenant(), { content: 'unknown' }, async (_full, reserve) => {
      for (const size of [0.9 * MB, 0.9 * MB, 2 * MB, 0.5 * MB]) {
        const refusal = reserve(size);
        reserved.push(refusal === null ? null : refusal.param);
      }
    });
    expect(reserved).toEqual([null, null, 'stored_mb', null]);
    expect(await admitted(rooms, 0.4 * MB)).toBeNull();
  });
});

test('content that joins a job counts also while nothing may be queued', async () => {
  const { rooms, measurements } = opened(1);
  const limits: TenantLimits = { stored_mb: 1, queued_jobs: 1 };
  const steer = () =>
    rooms.admit(tenant(limits), { queuedJobs: 1, content: text(0.6 * MB) }, async (full, reserve) => ({
      full: full?.param,
      more: reserve(0.6 * MB)?.param,
    }));
  const first = steer();
  measurements[0]?.ends(0);
  expect(await first).toEqual({ full: 'queued_jobs', more: undefined });
  const both = rooms.admit(tenant(limits), { content: 'unknown' }, async (_full, reserve) => reserve(0.6 * MB)?.param);
  expect(await both).toBe('stored_mb');
});

test('a request that waits for jobs to end does not count again meanwhile, however slow a measurement is', async () => {
  const { rooms, measurements, counts, pass } = opened();
  const limits: TenantLimits = { stored_mb: 1, queued_jobs: 1 };
  const adds = { queuedJobs: 1, content: text(100) };
  const { promise, resolve } = Promise.withResolvers<void>();
  const holds = rooms.admit(tenant(limits), adds, () => promise);
  measurements[0]?.ends(0, 60);
  await expect.poll(counts).toBe(1);
  pass(2_000);
  const waits = rooms.admit(tenant(limits), adds, async (full) => full);
  await expect.poll(() => measurements.length).toBe(2);
  await new Promise((done) => setTimeout(done, 50));
  expect(counts()).toBe(2);
  resolve();
  await holds;
  expect(await waits).toBeNull();
  expect(counts()).toBe(3);
});
