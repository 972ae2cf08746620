// A tenant runs no more contexts at once than its limit of slots, over all processes, and uses all of them while it has work.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { alterTenant } from '../../../src/commands/tenants/manage-tenants.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import type { ContextId, TenantId } from '../../../src/core/ids.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { firstInput } from '../../db/inputs.ts';
import { TEAM_DEFAULTS } from '../../../src/workers/run/team-abilities.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

/** `most`: at once so far, or since `restart`, which returns it. */
type Watched = { fleet: Fleet; most: (() => number) & { restart(): number }; started: () => number };

const TIMES = { heartbeatIntervalMs: 50 };

/** `takes`: how long each model call takes. */
async function watched(takes: () => Promise<void>, options: Partial<FleetOptions> = {}): Promise<Watched> {
  let at = 0;
  let most = 0;
  let started = 0;
  const fleet = await startFleet({
    model: async (request) => {
      started += 1;
      const isOther = JSON.stringify(request.messages).includes('other');
      if (isOther) return says('done');
      at += 1;
      most = Math.max(most, at);
      await takes();
      at -= 1;
      return says('done');
    },
    processes: 2,
    concurrency: 10,
    times: TIMES,
    ...options,
  });
  onTestFinished(() => fleet.close());
  const restart = (): number => {
    const before = most;
    most = at;
    return before;
  };
  return { fleet, most: Object.assign(() => most, { restart }), started: () => started };
}

async function begin(fleet: Fleet, tenantId: TenantId, text = 'go'): Promise<ContextId> {
  const worker = { tenantId, user: null, name: 'w', title: null, role: null, config: {}, parentWorkerId: null };
  const { contextId } = await fleet.perform(createWorker(fleet.ports, worker, firstInput(text)));
  return contextId;
}

async function limited(fleet: Fleet, slots: number | null): Promise<TenantId> {
  const tenantId = await ensureTenant(fleet.database.db, 'acme');
  await fleet.perform(alterTenant('acme', { status: null, weight: null, limits: { slots }, allow: null }));
  return tenantId;
}

async function completed(fleet: Fleet, tenantId: TenantId): Promise<number> {
  const [row] = await fleet.query(
    `select count(*)::int as n from jobs where tenant_id = ${tenantId} and status = 'completed'`,
  );
  return Number(row?.['n']);
}

const ended = (fleet: Fleet, tenantId: TenantId, count: number) =>
  expect.poll(() => completed(fleet, tenantId), { timeout: 60_000, interval: 50 }).toBe(count);

test.each(['redis', 'deaf'] as const)(
  'the limit holds in two processes, and its slots are used (%s)',
  async (queue) => {
    const { fleet, most } = await watched(() => sleep(200), { queue });
    const tenantId = await limited(fleet, 3);
    await Promise.all(Array.from({ length: 30 }, () => begin(fleet, tenantId)));
    await ended(fleet, tenantId, 30);
    expect(most()).toBe(3);
  },
);

test('another tenant is not kept from its turn by one that has its limit', async () => {
  const gate = Promise.withResolvers<void>();
  const { fleet, most } = await watched(() => gate.promise, { processes: 1, concurrency: 4 });
  onTestFinished(() => gate.resolve());
  const tenantId = await limited(fleet, 1);
  await Promise.all(Array.from({ length: 50 }, () => begin(fleet, tenantId)));
  const other = await ensureTenant(fleet.database.db, 'other');
  await Promise.all(Array.from({ length: 10 }, () => begin(fleet, other, 'other')));
  await ended(fleet, other, 10);
  expect(most()).toBe(1);
});

test('a limit that is raised or removed lets the others start', async () => {
  const gate = Promise.withResolvers<void>();
  const { fleet, started } = await watched(() => gate.promise);
  onTestFinished(() => gate.resolve());
  const tenantId = await limited(fleet, 1);
  const starts = (count: number) => expect.poll(started, { timeout: 30_000 }).toBe(count);
  await Promise.all(Array.from({ length: 6 }, () => begin(fleet, tenantId)));
  await starts(1);
  // Long enough for several sweeps.
  await sleep(1_500);
  expect(started()).toBe(1);
  await limited(fleet, 3);
  await starts(3);
  await limited(fleet, null);
  await starts(6);
});

test('the config file limits each tenant that has no limit of its own', async () => {
  const team = { ...TEAM_DEFAULTS, tenantLimits: { slots: 2 } };
  const { fleet, most } = await watched(() => sleep(200), { team });
  const tenantId = await ensureTenant(fleet.database.db, 'acme');
  await Promise.all(Array.from({ length: 12 }, () => begin(fleet, tenantId)));
  await ended(fleet, tenantId, 12);
  expect(most()).toBe(2);
});

test('a limit that is lowered counts over all processes, though more is queued in the contexts that run', async () => {
  const gate = Promise.withResolvers<void>();
  const { fleet, most, started } = await watched(() => gate.promise.then(() => sleep(20)));
  onTestFinished(() => gate.resolve());
  const tenantId = await ensureTenant(fleet.database.db, 'acme');
  const contexts = await Promise.all(Array.from({ length: 6 }, () => begin(fleet, tenantId)));
  for (let more = 0; more < 5; more += 1)
    await Promise.all(contexts.map((contextId) => fleet.post(contextId, 'go', { tenantId })));
  await expect.poll(started).toBe(6);
  await limited(fleet, 1);
  // Long enough for many heartbeats.
  await sleep(1_500);
  gate.resolve();
  await expect.poll(started).toBeGreaterThanOrEqual(7);
  const before = most.restart();
  expect(before).toBe(6);
  await ended(fleet, tenantId, 36);
  expect(most()).toBe(1);
});

test('contexts of a tenant that has its limit take turns, though one has more queued', async () => {
  const gate = Promise.withResolvers<void>();
  const { fleet, started } = await watched(() => gate.promise.then(() => sleep(50)), { processes: 1 });
  onTestFinished(() => gate.resolve());
  const tenantId = await limited(fleet, 1);
  const first = await begin(fleet, tenantId);
  for (let more = 0; more < 99; more += 1) await fleet.post(first, 'go', { tenantId });
  await expect.poll(started).toBe(1);
  const second = await begin(fleet, tenantId);
  gate.resolve();
  await ended(fleet, tenantId, 101);
  // A second of jobs of 50 ms: so long the wake-up of the second one may take.
  const order = await fleet.query(
    `select context_id as id from jobs where tenant_id = ${tenantId} order by started_at`,
  );
  expect(order.findIndex(({ id }) => id === second)).toBeLessThan(30);
});
