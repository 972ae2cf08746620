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

type Watched = { fleet: Fleet; most(): number; started(): number };

/** Each model call takes `ms`; `most` at once so far. */
async function watched(ms: number, options: Partial<FleetOptions> = {}): Promise<Watched> {
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
      await sleep(ms);
      at -= 1;
      return says('done');
    },
    processes: 2,
    concurrency: 10,
    times: { heartbeatIntervalMs: 50 },
    ...options,
  });
  onTestFinished(() => fleet.close());
  return { fleet, most: () => most, started: () => started };
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

const ended = (fleet: Fleet, tenantId: TenantId, count: number, timeout: number) =>
  expect.poll(() => completed(fleet, tenantId), { timeout, interval: 50 }).toBe(count);

test.each(['redis', 'deaf'] as const)(
  'the limit holds in two processes, and its slots are all used (%s)',
  async (queue) => {
    const { fleet, most } = await watched(100, { queue });
    const tenantId = await limited(fleet, 3);
    await sleep(200);
    await Promise.all(Array.from({ length: 30 }, () => begin(fleet, tenantId)));
    // 30 jobs of 100 ms in 3 slots take a second; a sweep for each slot would take ten.
    await ended(fleet, tenantId, 30, queue === 'redis' ? 6_000 : 8_000);
    expect(most()).toBe(3);
  },
);

test('another tenant is not kept from its turn by one that has its limit', async () => {
  const { fleet } = await watched(3_000, { processes: 1, concurrency: 4 });
  const tenantId = await limited(fleet, 1);
  await sleep(200);
  await Promise.all(Array.from({ length: 50 }, () => begin(fleet, tenantId)));
  const other = await ensureTenant(fleet.database.db, 'other');
  await Promise.all(Array.from({ length: 10 }, () => begin(fleet, other, 'other')));
  await ended(fleet, other, 10, 2_500);
});

test('a limit that is removed, or raised, lets the others start', async () => {
  const { fleet, started } = await watched(5_000);
  const tenantId = await limited(fleet, 1);
  await sleep(200);
  await Promise.all(Array.from({ length: 6 }, () => begin(fleet, tenantId)));
  await expect.poll(started, { timeout: 3_000 }).toBe(1);
  await sleep(1_200);
  expect(started()).toBe(1);
  await limited(fleet, 3);
  await expect.poll(started, { timeout: 3_500 }).toBe(3);
  await limited(fleet, null);
  await expect.poll(started, { timeout: 3_500 }).toBe(6);
});

test('the config file limits each tenant that has no limit of its own', async () => {
  const tenantLimits = { slots: 2 };
  const { fleet, most } = await watched(100, { team: { ...TEAM_DEFAULTS, tenantLimits } });
  const tenantId = await ensureTenant(fleet.database.db, 'acme');
  await Promise.all(Array.from({ length: 12 }, () => begin(fleet, tenantId)));
  await ended(fleet, tenantId, 12, 6_000);
  expect(most()).toBe(2);
});
