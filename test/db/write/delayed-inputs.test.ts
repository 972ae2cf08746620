// Delayed inputs in the database: they cost their context nothing until they are due, and then join its queue exactly
// once, whatever dies or competes.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { clearContext } from '../../../src/commands/contexts/clear-context.ts';
import { deleteBranch } from '../../../src/commands/contexts/change-branches.ts';
import { changeInput, withdrawInput } from '../../../src/commands/inputs/change-input.ts';
import { delayInput } from '../../../src/commands/inputs/delay-input.ts';
import type { Accepted, SubmitInput } from '../../../src/commands/inputs/posted-input.ts';
import { releaseDueInputs } from '../../../src/commands/inputs/release-due.ts';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { cancelJobs } from '../../../src/commands/jobs/cancel-jobs.ts';
import { perform } from '../../../src/commands/perform.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { startWorker, stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type TenantId } from '../../../src/core/ids.ts';
import type { Delay } from '../../../src/core/run/delay.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { ALL_UNFINISHED } from '../../../src/db/run/unfinished.ts';
import { archiveIdle } from '../../../src/db/write/contexts/expiry.ts';
import { contextsWithDue } from '../../../src/db/write/inputs/delayed-inputs.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { explaining, passedOver } from '../../services/explaining.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { postedInput } from '../inputs.ts';

let the: Given;
beforeAll(async () => {
  the = await given(createFreshDatabase);
});
afterAll(() => the.close());
beforeEach(() => the.rows('delete from jobs'));

const HOUR: Delay = { kind: 'after', seconds: 3_600 };

type Over = Partial<Omit<SubmitInput, 'content'>> & { delay?: Delay };

const post = (contextId: ContextId, { delay = HOUR, ...over }: Over = {}, database: Database = the.database) => {
  const ports = the.ports(database);
  const content = [{ type: 'text' as const, text: 'later' }];
  return perform(ports, delayInput(ports, { ...postedInput(over), content, contextId }, delay));
};

async function delayed(contextId: ContextId, over: Over = {}): Promise<Accepted> {
  const posted = await post(contextId, over);
  if (posted.kind === 'refused') throw new Error(posted.message);
  return posted.value;
}

/** The jobs are due. */
const pass = (...jobIds: readonly JobId[]) =>
  the.rows(`update jobs set starts_at = statement_timestamp() - interval '1 second' - n * interval '1 millisecond'
    from unnest(array[${jobIds.map((id) => `'${id}'`).join(', ')}]::uuid[]) with ordinality as t(id, place),
      lateral (select ${jobIds.length} - place as n) o where jobs.id = t.id`);

const release = async (
  contextId: ContextId,
  database: Database = the.database,
  tenantId: TenantId = DEFAULT_TENANT,
) => {
  const outcome = await perform(the.ports(database), releaseDueInputs({ tenantId, contextId }));
  return outcome.kind === 'done' && outcome.value;
};

const jobs = (contextId: ContextId) =>
  the.rows(`select j.id, j.status, j.position::int as position, m.status as message from jobs j
    join messages m on m.id = j.message_id where j.context_id = '${contextId}' order by j.id`);

describe('until its start, a delayed input', () => {
  test('changes only the size of its context, and holds up no other input', async () => {
    const { contextId } = await the.context();
    const before = await the.row(contextId);
    const { jobId, messageId } = await delayed(contextId);
    const [size] = await the.rows(`select bytes from messages where id = '${messageId}'`);
    expect(await the.row(contextId)).toEqual({ ...before, stored_bytes: size?.['bytes'] });
    expect(await jobs(contextId)).toEqual([{ id: jobId, status: 'delayed', position: 0, message: 'delayed' }]);
    const [row] =
      await the.rows(`select extract(epoch from starts_at - created_at)::float8 as seconds, branch, message_id
      from jobs where id = '${jobId}'`);
    expect(row).toMatchObject({ branch: 'main', message_id: messageId });
    expect(row?.['seconds']).toBeGreaterThan(3_590);
    expect(row?.['seconds']).toBeLessThan(3_610);
    await the.submit(contextId);
    expect(await the.row(contextId)).toMatchObject({ queued: 1, scheduling_status: 'runnable', wake_seq: 1 });
    // Nothing is due, so nothing is released.
    expect(await release(contextId)).toBe(false);
  });

  test('counts for the limit of the queue, when another one is delayed', async () => {
    const { contextId } = await the.context();
    await delayed(contextId, { queueLimit: 2 });
    await the.submit(contextId);
    expect(await post(contextId, { queueLimit: 2 })).toMatchObject({ kind: 'refused', code: 'queue_full' });
    expect(await post(contextId, { queueLimit: 3 })).toMatchObject({ kind: 'done' });
  });

  test('is edited and withdrawn, but has no position', async () => {
    const { contextId } = await the.context();
    const { jobId, messageId } = await delayed(contextId);
    const target = { tenantId: DEFAULT_TENANT, contextId, messageId: messageId ?? ids.next() };
    const content = [{ type: 'text' as const, text: 'other' }];
    const moved = await perform(the.ports(), changeInput(target, { content, place: 1, by: null, reserve: () => null }));
    expect(moved).toMatchObject({ code: 'invalid_request', param: 'position' });
    expect(
      await perform(the.ports(), changeInput(target, { content, place: null, by: null, reserve: () => null })),
    ).toMatchObject({
      kind: 'done',
    });
    expect(await the.rows(`select content from messages where id = '${messageId}'`)).toEqual([{ content }]);
    expect(await perform(the.ports(), withdrawInput(the.ports(), target))).toMatchObject({ kind: 'done' });
    expect(await jobs(contextId)).toEqual([{ id: jobId, status: 'cancelled', position: 0, message: 'withdrawn' }]);
  });

  test('is cancelled alone, with queued ones, and by filter; the count of queued inputs stays right', async () => {
    const { contextId } = await the.context();
    const ports = the.ports();
    const [one, other] = [await delayed(contextId), await delayed(contextId)];
    const queued = await the.submit(contextId);
    await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId: one.jobId, reason: null, by: null }));
    expect(await the.row(contextId)).toMatchObject({ queued: 1, scheduling_status: 'runnable', head_seq: 1 });
    const filter = { ...ALL_UNFINISHED, contextId, status: 'delayed' as const };
    expect(await cancelJobs(ports, { tenantId: DEFAULT_TENANT, filter, reason: null, by: null })).toEqual({ count: 1 });
    const third = await delayed(contextId);
    const all = { ...ALL_UNFINISHED, contextId };
    expect(await cancelJobs(ports, { tenantId: DEFAULT_TENANT, filter: all, reason: null, by: null })).toEqual({
      count: 2,
    });
    expect(await the.row(contextId)).toMatchObject({ queued: 0, scheduling_status: 'idle', head_seq: 4 });
    const ended = [one.jobId, other.jobId, queued, third.jobId].sort();
    expect((await jobs(contextId)).map(({ id, status }) => [id, status])).toEqual(ended.map((id) => [id, 'cancelled']));
    // A cancelled one does not come back.
    await pass(one.jobId, third.jobId);
    expect(await release(contextId)).toBe(false);
  });

  test('keeps its context from expiry and from a clear, and its branch from deletion', async () => {
    const { contextId } = await the.context({ config: { idle_timeout_s: 60 } });
    const target = { tenantId: DEFAULT_TENANT, contextId };
    await the.rows(`insert into branches (context_id, tenant_id, name, parent_name, fork_seq)
      values ('${contextId}', 1, 'aside', 'main', 0)`);
    const { jobId } = await delayed(contextId, { branch: 'aside' });
    const longAgo = `now() - interval '1 day'`;
    await the.rows(`update contexts set state_since = ${longAgo} where id = '${contextId}'`);
    await the.rows(
      `update workers set expires_at = ${longAgo}, updated_at = ${longAgo} where context_id = '${contextId}'`,
    );
    expect(await archiveIdle(the.database.db, {}, 100)).toEqual({ looked: 1, archived: 0 });
    const ports = the.ports();
    const clear = () => perform(ports, clearContext(ports, { ...target, isCurrent: () => true }));
    const remove = () => perform(ports, deleteBranch(target, 'aside'));
    expect(await clear()).toMatchObject({ code: 'context_busy' });
    expect(await remove()).toMatchObject({ code: 'context_busy' });
    await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }));
    expect(await remove()).toMatchObject({ kind: 'done' });
    expect(await clear()).toMatchObject({ kind: 'done' });
  });

  test('is deleted with its worker', async () => {
    const { contextId, workerId } = await the.context();
    await delayed(contextId);
    expect(await deleteWorker(the.ports(), DEFAULT_TENANT, workerId)).toMatchObject({ kind: 'done' });
    expect(
      await the.rows(`select id from jobs union all select id from messages where context_id = '${contextId}'`),
    ).toEqual([]);
    expect(await release(contextId)).toBe(false);
  });
});

describe('a delayed input is refused', () => {
  test.each<[string, Over, object]>([
    ['for another delivery', { delivery: 'steer' }, { code: 'invalid_request', param: 'delivery' }],
    [
      'beyond a year',
      { delay: { kind: 'at', at: Date.now() + 367 * 86_400_000 } },
      { code: 'invalid_request', param: 'at' },
    ],
    ['with an earlier deadline', { deadline: Date.now() + 60_000 }, { code: 'invalid_request', param: 'deadline' }],
    ['on a missing branch', { branch: 'none' }, { code: 'not_found', param: 'branch' }],
  ])('%s', async (_, over, refusal) => {
    const { contextId } = await the.context();
    expect(await post(contextId, over)).toMatchObject({ kind: 'refused', ...refusal });
    expect(await jobs(contextId)).toEqual([]);
  });

  test('by a stopped worker, and by a context that does not exist', async () => {
    const { contextId } = await the.context();
    await the.rows(`update contexts set stopped = true where id = '${contextId}'`);
    expect(await post(contextId)).toMatchObject({ code: 'worker_stopped' });
    expect(await post(ids.next())).toMatchObject({ code: 'not_found' });
  });
});

test('a start that has passed means at once', async () => {
  const { contextId } = await the.context();
  const { jobId, status } = await delayed(contextId, { delay: { kind: 'at', at: Date.now() - 60_000 } });
  expect(status).toBe('queued');
  expect(await jobs(contextId)).toEqual([{ id: jobId, status: 'queued', position: 1, message: 'queued' }]);
});

describe('a release', () => {
  test('queues what is due in order of the starts, behind what is queued, and wakes the context', async () => {
    const { contextId } = await the.context();
    const [first, second, later] = [await delayed(contextId), await delayed(contextId), await delayed(contextId)];
    // It was posted first, and is due last.
    await pass(second.jobId, first.jobId);
    const queued = await the.submit(contextId);
    await the.rows(`update contexts set scheduling_status = 'idle', next_check_at = null where id = '${contextId}'`);
    const ports = the.ports();
    await perform(ports, releaseDueInputs({ tenantId: DEFAULT_TENANT, contextId }));
    expect(await the.row(contextId)).toMatchObject({
      queued: 3,
      wake_seq: 3,
      scheduling_status: 'runnable',
      priority: 5,
    });
    expect(ports.wakeUps).toMatchObject([{ contextId, wakeSeq: 3 }]);
    const places = await the.rows(`select id, position::int as position from jobs where status = 'queued'
      and context_id = '${contextId}' order by position`);
    expect(places).toEqual([
      { id: queued, position: 1 },
      { id: second.jobId, position: 2 },
      { id: first.jobId, position: 3 },
    ]);
    expect((await jobs(contextId)).find(({ id }) => id === later.jobId)).toMatchObject({ status: 'delayed' });
    expect(await release(contextId)).toBe(false);
  });

  test('raises the wake-ups of a context that a process runs, and sends none', async () => {
    const { contextId } = await the.context();
    const { jobId } = await delayed(contextId, { priority: 2 });
    await the.submit(contextId);
    await the.claimed(contextId);
    await pass(jobId);
    const ports = the.ports();
    await perform(ports, releaseDueInputs({ tenantId: DEFAULT_TENANT, contextId }));
    expect(ports.wakeUps).toEqual([]);
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'running',
      wake_seq: 2,
      priority: 2,
      queued: 2,
    });
  });

  test('queues it in a stopped context, which runs it once it is started', async () => {
    const { contextId } = await the.context();
    const target = { tenantId: DEFAULT_TENANT, contextId };
    const { jobId } = await delayed(contextId);
    await perform(
      the.ports(),
      stopWorker(the.ports(), target, { reason: '', by: null, asked: 'keep', may: async () => true }),
    );
    await pass(jobId);
    expect(await release(contextId)).toBe(true);
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', queued: 1, state: 'Stopped' });
    await perform(
      the.ports(),
      startWorker(the.ports(), target, async () => true),
    );
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'runnable', queued: 1 });
  });

  test('happens once, if many processes try it at once, beside posts and a cancellation', async () => {
    const { contextId } = await the.context();
    const accepted = await Promise.all(Array.from({ length: 8 }, () => delayed(contextId)));
    await pass(...accepted.map(({ jobId }) => jobId));
    const [cancelled] = accepted;
    const processes = Array.from({ length: 4 }, () => the.open({ max: 2 }));
    const ports = the.ports();
    const jobId = cancelled?.jobId ?? ids.next();
    await Promise.all([
      ...Array.from({ length: 16 }, (_, at) => release(contextId, processes[at % 4])),
      ...Array.from({ length: 4 }, () => the.submit(contextId)),
      perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null })),
    ]);
    // All of them may have found the row locked by another command.
    await release(contextId);
    const [counts] = await the.rows(`select count(*) filter (where status = 'queued')::int as queued,
      count(distinct position) filter (where status = 'queued')::int as places,
      count(*) filter (where status = 'cancelled')::int as cancelled from jobs where context_id = '${contextId}'`);
    expect(counts).toEqual({ queued: 11, places: 11, cancelled: 1 });
    expect(await the.row(contextId)).toMatchObject({ queued: 11 });
  });

  test('happens once, if a process dies before any of its statements or its commit', async () => {
    const { contextId } = await the.context();
    const { jobId } = await delayed(contextId);
    await pass(jobId);
    let deaths = 0;
    for (let place = 1; ; place += 1) {
      const tried = await release(contextId, the.dying(place)).catch((error: unknown) => String(error));
      if (tried === true) break;
      expect(tried).toMatch(/^Error: (?:died$|Failed query: )/);
      expect(await jobs(contextId)).toMatchObject([{ id: jobId, status: 'delayed' }]);
      expect(await the.row(contextId)).toMatchObject({ queued: 0, scheduling_status: 'idle' });
      deaths += 1;
    }
    // Its begin, both statements, and its commit.
    expect(deaths).toBeGreaterThanOrEqual(3);
    expect(await jobs(contextId)).toEqual([{ id: jobId, status: 'queued', position: 1, message: 'queued' }]);
    expect(await release(contextId)).toBe(false);
  });

  test('does not wait for a context that another transaction has locked', async () => {
    const { contextId } = await the.context();
    const { jobId } = await delayed(contextId);
    await pass(jobId);
    await the.database.transaction(async (tx) => {
      await tx.execute(sql`select id from contexts where id = ${contextId} for no key update`);
      expect(await release(contextId, the.open({ max: 1 }))).toBe(false);
    });
    expect(await release(contextId)).toBe(true);
  });
});

describe('a look for due inputs', () => {
  test('finds each context once, and when the next input is due', async () => {
    expect(await contextsWithDue(the.database.db, 50)).toEqual({ due: [], nextInMs: null });
    const { contextId } = await the.context();
    const [one, other] = [await delayed(contextId), await delayed(contextId)];
    await the.rows(`update jobs set starts_at = now() + interval '1 hour' where id = '${one.jobId}'`);
    await the.rows(`update jobs set starts_at = now() + interval '2 hours' where id = '${other.jobId}'`);
    const { due, nextInMs } = await contextsWithDue(the.database.db, 50);
    expect(due).toEqual([]);
    expect(nextInMs).toBeGreaterThan(3_590_000);
    expect(nextInMs).toBeLessThanOrEqual(3_600_000);
    await pass(one.jobId, other.jobId);
    const found = { due: [{ tenantId: DEFAULT_TENANT, contextId }], nextInMs: null };
    expect(await contextsWithDue(the.database.db, 50)).toEqual(found);
  });

  test('passes by a suspended tenant, and takes one of each tenant before the second of any', async () => {
    const suspended = await ensureTenant(the.database.db, 'suspended');
    const busy = await ensureTenant(the.database.db, 'busy');
    const small = await ensureTenant(the.database.db, 'small');
    const contexts = async (tenantId: TenantId, count: number): Promise<ContextId[]> => {
      const made: ContextId[] = [];
      for (let n = 0; n < count; n += 1) {
        const { contextId } = await the.context({ tenantId });
        await delayed(contextId, { tenantId });
        made.push(contextId);
      }
      return made;
    };
    const [theirs] = await contexts(suspended, 1);
    await contexts(busy, 5);
    const [own] = await contexts(small, 1);
    await the.rows(`update jobs set starts_at = now() - interval '1 hour'`);
    await the.rows(`update jobs set starts_at = now() - interval '1 second' where context_id = '${own}'`);
    await the.rows(`update tenants set status = 'suspended' where name = 'suspended'`);
    const { due } = await contextsWithDue(the.database.db, 2);
    expect(due).toHaveLength(2);
    expect(due).toContainEqual({ tenantId: small, contextId: own });
    if (theirs === undefined) throw new Error('no context');
    expect(await release(theirs, the.database, suspended)).toBe(false);
    await the.rows(`update tenants set status = 'active' where name = 'suspended'`);
    expect(await release(theirs, the.database, suspended)).toBe(true);
  });

  test('reads no job that is not due, and none that is not delayed', async () => {
    const { contextId, workerId } = await the.context();
    await the.rows(`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, message_id,
        metadata, starts_at, finished_at)
      select gen_random_uuid(), 1, '${contextId}', '${workerId}', 'input', 'main', s.status, 0, gen_random_uuid(), '{}',
        now() + n * interval '1 minute', case when s.status = 'completed' then now() end
      from generate_series(1, 5000) n, (values ('delayed'), ('queued'), ('completed')) s(status)`);
    await the.rows('vacuum analyze jobs');
    for (const due of [false, true]) {
      if (due) await pass((await delayed((await the.context()).contextId)).jobId);
      const plans: string[] = [];
      await contextsWithDue(explaining(the.database.db, plans), 50);
      expect(plans.join('\n')).not.toMatch(/Seq Scan on jobs|Sort.*rows=\d{3}/);
      expect(passedOver(plans.join('\n'))).toBe(0);
    }
  });

  test('passes over none of another tenant, also where statistics know of one tenant only', async () => {
    const backlog = await ensureTenant(the.database.db, 'with a backlog');
    const { contextId, workerId } = await the.context({ tenantId: backlog });
    await the.rows(`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, message_id,
        metadata, starts_at)
      select gen_random_uuid(), ${backlog}, '${contextId}', '${workerId}', 'input', 'main', 'delayed', 0,
        gen_random_uuid(), '{}', now() - n * interval '1 minute' from generate_series(1, 2000) n`);
    await the.rows(`update tenants set status = 'suspended' where id = ${backlog}`);
    await the.rows('vacuum analyze jobs');
    await pass((await delayed((await the.context()).contextId)).jobId);
    const plans: string[] = [];
    await contextsWithDue(explaining(the.database.db, plans), 50);
    await the.rows(`update tenants set status = 'active' where id = ${backlog}`);
    // The tenant itself, which was suspended.
    expect(passedOver(plans.join('\n'))).toBe(1);
  });
});
