// A suspended tenant runs nothing and loses nothing. A deleted one leaves nothing, while the others go on.
import { expect, onTestFinished, test } from 'vitest';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { alterTenant, deleteTenant } from '../../../src/commands/tenants/manage-tenants.ts';
import { removeTenant } from '../../../src/commands/tenants/remove-tenant.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { putRole } from '../../../src/commands/workers/change-role.ts';
import type { ContextId, JobId, TenantId, WorkerId } from '../../../src/core/ids.ts';
import { openDatabase } from '../../../src/db/connection/client.ts';
import { setThrottle } from '../../../src/db/processes/throttles.ts';
import { takeKey } from '../../../src/db/write/inputs/idempotency.ts';
import { TENANT_TABLES } from '../../../src/db/write/tenants/deletion.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { revokeTokens } from '../../../src/db/write/tokens.ts';
import { postedInput } from '../../db/inputs.ts';
import { tablesWithRowsOf } from '../../services/tenant-rows.ts';
import { LATE_WRITERS } from './late-writers.ts';
import { tagOf } from '../../services/statements.ts';
import { result, says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

const OPERATOR = { kind: 'operator', id: null, user: null, onBehalfOf: null } as const;
const REQUEST = { actor: OPERATOR, requestId: 'r-1', keys: ['env-key'] };

type Work = { tenantId: TenantId; workerId: WorkerId; contextId: ContextId; jobId: JobId };

async function fleetOf(options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const fleet = await startFleet({ model: () => says('done'), times: { heartbeatIntervalMs: 100 }, ...options });
  onTestFinished(() => fleet.close());
  return fleet;
}

async function begin(fleet: Fleet, tenant: string, parentWorkerId: WorkerId | null = null): Promise<Work> {
  const tenantId = await ensureTenant(fleet.database.db, tenant);
  const worker = { tenantId, user: null, name: 'w', title: null, role: null, config: {}, parentWorkerId };
  const { contextId, workerId } = await fleet.perform(createWorker(fleet.ports, worker));
  const { jobId } = await fleet.perform(submitInput(fleet.ports, { ...postedInput(), tenantId, contextId }));
  return { tenantId, contextId, workerId, jobId };
}

const change = (fleet: Fleet, name: string, status: 'active' | 'suspended') =>
  fleet.perform(alterTenant(name, { status, weight: null, limits: {}, allow: null }));

async function jobStatus(fleet: Fleet, { jobId }: Work): Promise<unknown> {
  const [row] = await fleet.query(`select status from jobs where id = '${jobId}'`);
  return row?.['status'] ?? null;
}

const leftovers = (fleet: Fleet, tenantId: TenantId) => tablesWithRowsOf((text) => fleet.query(text), tenantId);

const isGone = async (fleet: Fleet, id: TenantId): Promise<boolean> =>
  (await fleet.query(`select 1 from tenants where id = ${id}`)).length === 0;

test('a suspended tenant is not claimed, also where a wake-up or a sweep finds it; afterwards it goes on', async () => {
  const fleet = await fleetOf();
  const before = await begin(fleet, 'acme');
  await fleet.ended(before.jobId);
  await change(fleet, 'acme', 'suspended');
  const input = { ...postedInput(), tenantId: before.tenantId, contextId: before.contextId };
  const { jobId } = await fleet.perform(submitInput(fleet.ports, input));
  const other = await begin(fleet, 'other');
  await fleet.ended(other.jobId);
  // Long enough for several sweeps.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(await jobStatus(fleet, { ...before, jobId })).toBe('queued');
  await change(fleet, 'acme', 'active');
  expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed' });
});

test('a run of a tenant that is suspended leaves at its next step, and another one continues it', async () => {
  const calls: string[] = [];
  const gate = Promise.withResolvers<void>();
  const answers = [says('', { name: 'look', input: {} }), says('', { name: 'look', input: {} }), says('done')];
  const fleet = await fleetOf({
    model: () => answers.shift() ?? says('no more'),
    tools: {
      // One without effect may begin before its answer is stored, and is then not waited for.
      look: {
        effect: 'once',
        execute: async () => {
          calls.push('look');
          if (calls.length === 1) await gate.promise;
          return result('seen');
        },
      },
    },
  });
  const work = await begin(fleet, 'acme');
  await fleet.until(() => calls.length === 1);
  await change(fleet, 'acme', 'suspended');
  await new Promise((resolve) => setTimeout(resolve, 400));
  gate.resolve();
  await fleet.until(async () => {
    const [row] = await fleet.query(`select scheduling_status from contexts where id = '${work.contextId}'`);
    return row?.['scheduling_status'] === 'runnable';
  });
  expect([calls.length, await jobStatus(fleet, work)]).toEqual([1, 'waiting']);
  await change(fleet, 'acme', 'active');
  expect(await fleet.ended(work.jobId)).toMatchObject({ status: 'completed' });
  expect(calls.length).toBe(2);
});

test('a tenant that is suspended after its context was claimed begins nothing; others do', async () => {
  // No job begins before, whichever of them would be the first.
  let suspended: Promise<unknown> | null = null;
  const fleet: Fleet = await fleetOf({
    processes: 0,
    hook: async (text) => {
      if (tagOf(text) === 'contexts.append') await (suspended ??= change(fleet, 'acme', 'suspended'));
    },
  });
  const work = await begin(fleet, 'acme');
  const other = await begin(fleet, 'other');
  await fleet.startProcess();
  expect(await fleet.ended(other.jobId)).toMatchObject({ status: 'completed' });
  expect(suspended).not.toBeNull();
  expect(await jobStatus(fleet, work)).toBe('queued');
  const claims = () =>
    fleet.query(`select failed_claims, scheduling_status from contexts where id = '${work.contextId}'`);
  await expect.poll(claims).toEqual([{ failed_claims: 0, scheduling_status: 'runnable' }]);
  await change(fleet, 'acme', 'active');
  expect(await fleet.ended(work.jobId)).toMatchObject({ status: 'completed' });
});

test('the next job of a run does not begin after its tenant was suspended, before any heartbeat says so', async () => {
  // The model may be called before the test knows what it posted, and before the claim of the job is committed. A
  // suspension by the call of the second job could therefore precede its beginning.
  const begun = Promise.withResolvers<Work>();
  const fleet: Fleet = await fleetOf({
    times: { heartbeatIntervalMs: 20_000, heartbeatTimeoutMs: 120_000 },
    model: async () => {
      if (isSuspended) return says('done');
      isSuspended = true;
      const work = await begun.promise;
      const { tenantId, contextId } = work;
      await fleet.perform(submitInput(fleet.ports, { ...postedInput(), tenantId, contextId }));
      await fleet.until(async () => (await jobStatus(fleet, work)) !== 'queued');
      await change(fleet, 'acme', 'suspended');
      return says('done');
    },
  });
  let isSuspended = false;
  const first = await begin(fleet, 'acme');
  begun.resolve(first);
  expect(await fleet.ended(first.jobId)).toMatchObject({ status: 'completed' });
  const released = async () => {
    const [row] = await fleet.query(`select scheduling_status from contexts where id = '${first.contextId}'`);
    return row?.['scheduling_status'] === 'runnable';
  };
  await fleet.until(released);
  const jobs = `select id, status from jobs where context_id = '${first.contextId}' order by id`;
  const [, second] = await fleet.query(jobs);
  expect(second).toMatchObject({ status: 'queued' });
  await change(fleet, 'acme', 'active');
  expect(await fleet.ended(second?.['id'] as JobId)).toMatchObject({ status: 'completed' });
});

test('a deleted tenant leaves no row, while a job of it runs; its name is a new tenant afterwards', async () => {
  const running = Promise.withResolvers<AbortSignal>();
  const fleet = await fleetOf({
    model: ({ messages }) =>
      JSON.stringify(messages).includes('hang') ? says('', { name: 'hang', input: {} }) : says('done'),
    tools: {
      hang: {
        execute: async (_, signal) => {
          running.resolve(signal);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return result('late');
        },
      },
    },
  });
  const { db } = fleet.database;
  const parent = await begin(fleet, 'acme');
  await fleet.ended(parent.jobId);
  await begin(fleet, 'acme', parent.workerId);
  const { tenantId } = parent;
  const hanging = {
    ...postedInput({ content: [{ type: 'text', text: 'hang' }] }),
    tenantId,
    contextId: parent.contextId,
  };
  await fleet.perform(submitInput(fleet.ports, hanging));
  const signal = await running.promise;
  await fleet.perform(putRole({ tenantId, name: 'guide', isCurrent: () => true }, { system_prompt: 'x' }));
  await takeKey(db, tenantId, 'k', 'h');
  await revokeTokens(db, tenantId, 'ann' as never);
  const throttle = {
    id: 't',
    tenantId,
    reason: 'overloaded',
    since: 0,
    refusedAt: 0,
    until: Date.now() + 60_000,
  } as const;
  await setThrottle(db, { provider: 'openai', keyId: 'k', model: 'm' }, throttle);
  const kept = await begin(fleet, 'other');
  await fleet.ended(kept.jobId);
  expect(await leftovers(fleet, tenantId)).toContain('roles');

  await fleet.perform(deleteTenant('acme', REQUEST));
  await fleet.until(() => isGone(fleet, tenantId));
  expect(signal.aborted).toBe(true);
  expect(await leftovers(fleet, tenantId)).toEqual([]);
  const entries = await fleet.query(
    `select tenant_id, action, target, actor_kind, request_id, detail from audit_entries`,
  );
  expect(entries).toEqual([
    {
      tenant_id: null,
      action: 'tenant.deleted',
      target: 'acme',
      actor_kind: 'operator',
      request_id: 'r-1',
      detail: { workers: 2, keys: ['env-key'], requested_at: expect.stringMatching(/Z$/), tenant_id: tenantId },
    },
  ]);
  expect(await jobStatus(fleet, kept)).toBe('completed');
  const again = await begin(fleet, 'acme');
  expect(again.tenantId).not.toBe(tenantId);
  await fleet.ended(again.jobId);
  for (const [table, write] of Object.entries(LATE_WRITERS)) {
    // The same writes a row of an active tenant.
    await write(fleet, again.tenantId);
    expect([table, await leftovers(fleet, again.tenantId)]).toEqual([table, expect.arrayContaining([table])]);
    await write(fleet, tenantId);
  }
  expect(await leftovers(fleet, tenantId)).toEqual([]);
});

test('a deletion waits for transactions that began before it was known', async () => {
  const fleet = await fleetOf({ processes: 0 });
  const { db } = fleet.database;
  const tenantId = await ensureTenant(db, 'acme');
  const removed = () => removeTenant({ ...fleet.ports, database: fleet.database }, tenantId, () => false);
  await fleet.database.transaction(async (tx) => {
    await tx.execute(`insert into roles (tenant_id, name, version, definition) values (${tenantId}, 'r', 1, '{}')`);
    await fleet.perform(deleteTenant('acme', REQUEST));
    expect(await removed()).toBe('waits');
  });
  expect(await leftovers(fleet, tenantId)).toEqual(['roles']);
  expect(await removed()).toBe('removed');
  expect(await leftovers(fleet, tenantId)).toEqual([]);
});

test('a deletion gives calls with effect once some time to end', async () => {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const sent: string[] = [];
  const answers = [says('', { name: 'mail', input: {} }), says('done')];
  const fleet = await fleetOf({
    model: () => answers.shift() ?? says('no more'),
    tools: {
      mail: {
        effect: 'once',
        execute: async (_, signal) => {
          begun.resolve();
          await gate.promise;
          sent.push(signal.aborted ? 'aborted' : 'sent');
          return result('sent');
        },
      },
    },
  });
  const { tenantId } = await begin(fleet, 'acme');
  await begun.promise;
  await fleet.perform(deleteTenant('acme', REQUEST));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await isGone(fleet, tenantId)).toBe(false);
  gate.resolve();
  await fleet.until(() => isGone(fleet, tenantId));
  expect(sent).toEqual(['sent']);
});

test('every table with rows of a tenant is emptied by a deletion', async () => {
  const fleet = await fleetOf({ processes: 0 });
  const tables = await fleet.query(`
    select c.table_name as name, bool_or(o.column_name is not null) as "hasContext"
    from information_schema.columns c
    join information_schema.tables t
      on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
    left join information_schema.columns o
      on o.table_schema = c.table_schema and o.table_name = c.table_name and o.column_name = 'context_id'
        and o.is_nullable = 'NO'
    where c.table_schema = 'nightshift' and c.column_name = 'tenant_id' group by c.table_name`);
  // Rows with a context are deleted with it; a context, and what a worker remembers, with the worker.
  const ofWorkers = ['contexts', 'memories'];
  const alone = tables.filter(({ hasContext }) => hasContext !== true).map(({ name }) => String(name));
  expect(alone.filter((name) => !ofWorkers.includes(name)).sort()).toEqual([...TENANT_TABLES].sort());
});

test('a process that dies after any statement of a deletion leaves one that another process completes', async () => {
  const fleet = await fleetOf({ processes: 0 });
  let steps = 0;
  for (let dies = 1, hasDied = true; hasDied; dies += 1) {
    const name = `acme-${dies}`;
    const parent = await begin(fleet, name);
    const { tenantId } = parent;
    await begin(fleet, name, parent.workerId);
    await fleet.perform(putRole({ tenantId, name: 'guide', isCurrent: () => true }, { system_prompt: 'x' }));
    await fleet.perform(deleteTenant(name, REQUEST));
    let sent = 0;
    const dying = openDatabase(fleet.url, {
      max: 1,
      hook: () => {
        sent += 1;
        if (sent >= dies) throw new Error('dead');
      },
    });
    const removal = removeTenant({ ...fleet.ports, database: dying }, tenantId, () => false);
    hasDied = await removal.then(
      () => false,
      () => true,
    );
    await dying.close(0);
    if (hasDied) {
      await fleet.query(`update tenants set deletion_lease = now() - interval '1 second' where id = ${tenantId}`);
      expect(await removeTenant(fleet.ports, tenantId, () => false)).toBe('removed');
      steps += 1;
    }
    expect(await leftovers(fleet, tenantId)).toEqual([]);
    expect(await isGone(fleet, tenantId)).toBe(true);
    const entries = await fleet.query(`select detail from audit_entries where target = '${name}'`);
    expect(entries).toMatchObject([{ detail: { keys: ['env-key'], tenant_id: tenantId } }]);
  }
  // The take, the workers, each table, the end.
  expect(steps).toBeGreaterThan(TENANT_TABLES.length + 10);
});
