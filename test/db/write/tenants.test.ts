// Rows of one tenant do not exist for another; workers change under their version, and are deleted permanently.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WHOLE_TENANT } from '../../../src/core/access/reach.ts';
import { changeWorker } from '../../../src/commands/workers/change-worker.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type TenantId,
  type WorkerId,
} from '../../../src/core/ids.ts';
import { append } from '../../../src/db/run/append/append.ts';
import { claim } from '../../../src/db/run/claims.ts';
import { admission } from '../../../src/db/write/inputs/admission.ts';
import { findJob, jobPlace, listJobs } from '../../../src/db/read/jobs/job-views.ts';
import type { JobOrder } from '../../../src/db/read/jobs/find-jobs.ts';
import { findReceipt } from '../../../src/db/run/receipts.ts';
import { listSteps } from '../../../src/db/read/jobs/step-views.ts';
import { findWorker, listWorkers } from '../../../src/db/read/contexts/worker-views.ts';
import { contextOf, depthOf, descendants } from '../../../src/db/write/workers/workers.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { given, ids, nothing, type Given } from '../database-fixture.ts';

const NEWEST: JobOrder = { by: 'created', descending: true, after: null };

let the: Given;
beforeAll(async () => {
  the = await given();
  other = await ensureTenant(the.database.db, 'other');
});
afterAll(() => the.close());

const db = () => the.database.db;
let other: TenantId;
const noJobs = {
  statuses: null,
  kind: null,
  reach: WHOLE_TENANT,
  user: null,
  role: null,
  metadata: null,
  contextId: null,
  workerId: null,
  parentJobId: null,
  createdAfter: null,
  createdBefore: null,
};
const noWorkers = { reach: WHOLE_TENANT, user: null, parentWorkerId: null, role: null, state: null, archived: false };

describe('the id of a name', () => {
  const rows = (name: string) => the.rows(`select id from tenants where name = '${name}'`);

  test('is 1 for the default tenant', async () => {
    expect(await ensureTenant(db(), DEFAULT_TENANT_NAME)).toBe(DEFAULT_TENANT);
  });

  test('is the same for all processes that ask for a new name at once', async () => {
    const asking = Array.from({ length: 8 }, () => ensureTenant(the.open({ max: 1 }).db, 'popular'));
    const found = new Set(await Promise.all(asking));
    expect([...found]).toEqual((await rows('popular')).map(({ id }) => id));
  });

  test('of a name that an open transaction adds is returned after its commit', async () => {
    const client = the.open({ max: 1, name: 'second' });
    const { added, second } = await the.database.transaction(async (tx) => {
      const added = await ensureTenant(tx, 'contended');
      const second = ensureTenant(client.db, 'contended');
      await untilBlocked('second');
      return { added, second };
    });
    expect(await second).toBe(added);
    expect(await rows('contended')).toEqual([{ id: added }]);
  });
});

async function untilBlocked(name: string): Promise<void> {
  const blocked = () =>
    the.rows(`
      select 1 from pg_stat_activity where datname = current_database() and application_name = '${name}'
        and cardinality(pg_blocking_pids(pid)) > 0`);
  await expect.poll(blocked).not.toEqual([]);
}

test('nothing of another tenant is found, by id or in a list', async () => {
  const { contextId, workerId } = await the.context();
  const jobId = await the.submit(contextId);
  const asked = async (tenantId: TenantId) => [
    await findJob(db(), tenantId, jobId),
    await findReceipt(db(), tenantId, jobId),
    await jobPlace(db(), tenantId, jobId),
    await listSteps(db(), tenantId, jobId, { after: 0, limit: 10 }),
    (await listJobs(db(), tenantId, { filter: { ...noJobs, contextId }, q: null, order: NEWEST, limit: 10 }))
      .items[0] ?? null,
    await findWorker(db(), tenantId, workerId),
    (await listWorkers(db(), tenantId, noWorkers, { after: null, limit: 10 })).items[0] ?? null,
    await admission(db(), tenantId, contextId),
    await contextOf(db(), tenantId, workerId),
    await depthOf(db(), tenantId, workerId),
    (await descendants(db(), tenantId, workerId))[0] ?? null,
  ];
  for (const found of await asked(DEFAULT_TENANT)) expect(found).not.toBeNull();
  for (const found of await asked(other)) expect(found).toBeNull();
});

describe('a change', () => {
  const change = (contextId: ContextId, expectedVersion: number | null, tenantId = DEFAULT_TENANT) =>
    perform(the.ports(), changeWorker({ tenantId, contextId, change: { name: 'n' }, expectedVersion }));

  test('under its version is made once, however many try at once', async () => {
    const { contextId } = await the.context();
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => change(contextId, 1)));
    expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.kind === 'refused') expect(outcome.code).toBe('version_conflict');
    }
    expect(await the.rows(`select version from workers where context_id = '${contextId}'`)).toEqual([{ version: 2 }]);
  });

  test('without one is always made, and sends the owner a control signal', async () => {
    const { contextId } = await the.context();
    await Promise.all(Array.from({ length: 6 }, () => change(contextId, null)));
    expect(await the.rows(`select version from workers where context_id = '${contextId}'`)).toEqual([{ version: 7 }]);
    expect(await the.row(contextId)).toMatchObject({ control_seq: 6, lease_epoch: 0 });
  });

  test('of another tenant’s worker is not found', async () => {
    const { contextId } = await the.context();
    expect(await change(contextId, null, other)).toMatchObject({ code: 'not_found' });
  });
});

describe('making workers', () => {
  const make = (parentWorkerId: WorkerId | null, tenantId = DEFAULT_TENANT) => {
    const ports = the.ports();
    const worker = { tenantId, user: null, name: 'w', title: null, role: null, config: {}, parentWorkerId };
    return perform(ports, createWorker(ports, worker));
  };

  test('a child is one level deeper than its parent, and a missing parent is not found', async () => {
    const parent = await the.context({ depth: 2 });
    const made = await make(parent.workerId);
    if (made.kind === 'refused') throw new Error(made.message);
    expect(await depthOf(db(), DEFAULT_TENANT, made.value.workerId)).toBe(3);
    expect(await make(parent.workerId, other)).toMatchObject({
      code: 'not_found',
      param: 'parent_worker_id',
    });
    expect(await make(ids.next<WorkerId>())).toMatchObject({ code: 'not_found' });
  });
});

describe('deleting', () => {
  const tables = ['contexts', 'workers', 'branches', 'messages', 'events', 'jobs', 'tool_calls', 'failed_calls'];
  const left = async (contextId: ContextId) => {
    const counts = tables.map(
      (table) =>
        `select count(*)::int as n from ${table} where ${table === 'contexts' ? 'id' : 'context_id'} = '${contextId}'`,
    );
    return (await the.rows(counts.join(' union all '))).reduce((sum, { n }) => sum + Number(n), 0);
  };

  test('takes a worker and all below it, deepest first, and no other', async () => {
    const root = await the.context();
    const child = await the.context({ parentWorkerId: root.workerId, depth: 1 });
    const grandchild = await the.context({ parentWorkerId: child.workerId, depth: 2 });
    const stranger = await the.context({ parentWorkerId: root.workerId, depth: 1, tenantId: other });
    const tree = await descendants(db(), DEFAULT_TENANT, root.workerId);
    expect(tree.map(({ id }) => id)).toEqual([grandchild.workerId, child.workerId, root.workerId]);
    expect(await deleteWorker(the.ports(), other, root.workerId)).toMatchObject({ code: 'not_found' });
    expect(await deleteWorker(the.ports(), DEFAULT_TENANT, root.workerId)).toEqual({
      kind: 'done',
      deleted: 3,
    });
    for (const { contextId } of [root, child, grandchild]) expect(await left(contextId)).toBe(0);
    expect(await left(stranger.contextId)).toBe(3);
    expect(await deleteWorker(the.ports(), DEFAULT_TENANT, root.workerId)).toMatchObject({
      code: 'not_found',
    });
  });

  test('during a run: its next append finds nothing to write to, and leaves nothing behind', async () => {
    const { contextId, workerId } = await the.context();
    await the.submit(contextId);
    const row = await claim(db(), contextId, await the.process());
    if (row === null) throw new Error('nothing to claim');
    const event = { name: 'StateChanged', data: { new_state: 'Idle', job_id: null } } as const;
    const received = () => append(db(), [nothing(row.lease, { entries: [{ kind: 'event', event }] })]);
    const ports = the.ports();
    const signalled: unknown[] = [];
    const owner = (await the.row(contextId))['lease_owner'];
    await ports.bus.subscribe({ name: `process:${String(owner)}` }, (message) => signalled.push(message));
    const outcomes = await Promise.all([
      ...Array.from({ length: 20 }, received),
      deleteWorker(ports, DEFAULT_TENANT, workerId),
    ]);
    expect(outcomes.at(-1)).toEqual({ kind: 'done', deleted: 1 });
    expect(await received()).toEqual([{ kind: 'stale' }]);
    expect(await left(contextId)).toBe(0);
    expect(signalled).toEqual([{ contextId, controlSeq: 1 }]);
  });

  test('while inputs arrive: each is refused or deleted with it, none is left', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { contextId, workerId } = await the.context();
      await Promise.all([
        ...Array.from({ length: 6 }, () => the.submit(contextId).catch(() => null)),
        deleteWorker(the.ports(), DEFAULT_TENANT, workerId),
        ...Array.from({ length: 6 }, () => the.submit(contextId).catch(() => null)),
      ]);
      expect(await left(contextId)).toBe(0);
    }
  });
});
