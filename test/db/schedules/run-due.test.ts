// Runs of schedules in the database: each occurrence once, whatever dies or competes, and what is written of it.
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeSchedule, removeSchedule } from '../../../src/commands/schedules/change-schedule.ts';
import { runDue } from '../../../src/commands/schedules/run-due.ts';
import { runNow } from '../../../src/commands/schedules/run-now.ts';
import { perform } from '../../../src/commands/perform.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { refuse } from '../../../src/core/errors.ts';
import { DEFAULT_TENANT, type TenantId } from '../../../src/core/ids.ts';
import { SCHEDULE_LIMITS } from '../../../src/core/schedules/schedule.ts';
import { dueSchedules, postpone } from '../../../src/db/schedules/due-schedules.ts';
import { submit } from '../../../src/db/write/inputs/submit.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { submissionTo } from '../inputs.ts';
import {
  MINUTE,
  current,
  dueOf,
  expectDue,
  firstOf,
  jobsIn,
  portsOf,
  runAll,
  runsOf,
  schedule,
  statuses,
} from './schedule-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

describe('an occurrence', () => {
  test('posts the input, notifies, is logged, and leads to the next one', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId);
    const first = firstOf(made);
    const ports = the.ports();
    expect(await runDue(portsOf(the), dueOf(made), first - 1)).toBe('not_taken');
    expect(await runDue({ ...portsOf(the), ...ports }, dueOf(made), first)).toBe('started');
    expect(ports.wakeUps).toHaveLength(1);
    const [run] = await runsOf(the, made);
    expect(run).toMatchObject({ status: 'started', occurrence: first, manual: false, contextId, error: null });
    expect(await the.rows(`select id, status, message_id from jobs where context_id = '${contextId}'`)).toEqual([
      { id: run?.jobId, status: 'queued', message_id: run?.messageId },
    ]);
    // Without the wake-up, a sweep finds the context.
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'runnable', queued: 1 });
    expect(await current(the, made)).toMatchObject({
      nextOccurrence: first + MINUTE,
      nextRunAt: first + MINUTE,
      lastJobId: run?.jobId,
    });
    expect(await runDue(portsOf(the), dueOf(made), first)).toBe('not_taken');
  });

  test('makes a job with the time of its statement, although its transaction may have begun before the occurrence', async () => {
    const { contextId } = await the.context();
    const submission = submissionTo(contextId);
    const late = await the.database.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      const [row] = await the.rows('select clock_timestamp()::text as at from pg_sleep(0.05)');
      await submit(tx, submission);
      return String(row?.['at']);
    });
    const isOlder = `created_at < '${late}'::timestamptz(3)`;
    expect(await the.rows(`select ${isOlder} as "isOlder" from jobs where id = '${submission.jobId}'`)).toEqual([
      { isOlder: false },
    ]);
  });

  test('runs once if many processes try it at once', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId);
    const processes = Array.from({ length: 4 }, () => portsOf(the, {}, the.open({ max: 2 })));
    const tries = await Promise.all(
      Array.from({ length: 16 }, (_, at) => runDue(processes[at % 4] ?? portsOf(the), dueOf(made), firstOf(made))),
    );
    expect(tries.filter((one) => one === 'started')).toHaveLength(1);
    expect(await jobsIn(the, contextId)).toBe(1);
  });

  test('runs once if a process dies before any of its statements or its commit', async () => {
    for (const overlap of ['queue', 'interrupt'] as const) {
      const { contextId } = await the.context();
      const made = await schedule(the, contextId, { overlap });
      // A first run, so that there is a job to interrupt.
      expect(await runDue(portsOf(the), dueOf(made), firstOf(made))).toBe('started');
      const at = firstOf(made) + MINUTE;
      let deaths = 0;
      for (let place = 1; ; place += 1) {
        const tried = runDue(portsOf(the, {}, the.dying(place)), dueOf(made), at).catch((error: unknown) =>
          String(error),
        );
        if ((await tried) === 'started') break;
        expect(await tried).toMatch(/^Error: (?:died$|Failed query: )/);
        expect(await jobsIn(the, contextId)).toBe(1);
        expect(await current(the, made)).toMatchObject({ nextOccurrence: at });
        deaths += 1;
      }
      // Its begin, all statements, and its commit.
      expect(deaths).toBeGreaterThanOrEqual(5);
      expect(await jobsIn(the, contextId)).toBe(2);
      expect(await statuses(the, made)).toEqual(['started', 'started']);
    }
  });

  test('cannot be logged twice', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId);
    await runDue(portsOf(the), dueOf(made), firstOf(made));
    await expect(
      the.rows(`insert into schedule_runs (id, tenant_id, schedule_id, occurrence, status, job_id)
        select '${ids.next()}', tenant_id, schedule_id, occurrence, status, job_id from schedule_runs
        where schedule_id = '${made.id}'`),
    ).rejects.toThrow();
  });

  test('makes a worker with its input', async () => {
    const { contextId } = await the.context();
    const worker = { name: 'reporter', role: null, config: { max_steps: 3 } };
    const made = await schedule(the, contextId, { target: { kind: 'worker', worker } });
    expect(await runAll(portsOf(the), made, firstOf(made) + MINUTE)).toEqual(['started']);
    const [missed, run] = await runsOf(the, made);
    expect([missed?.status, run?.status]).toEqual(['missed', 'started']);
    expect(run?.contextId).not.toBe(contextId);
    expect(
      await the.rows(`select w.name, w.config, j.status from workers w join jobs j on j.worker_id = w.id
        where w.context_id = '${run?.contextId}' and j.id = '${run?.jobId}'`),
    ).toEqual([{ name: 'reporter', config: { max_steps: 3 }, status: 'queued' }]);
  });

  test('does not answer a question that waits', async () => {
    const { contextId } = await the.context();
    const jobId = await the.submit(contextId);
    await the.rows(`update jobs set status = 'waiting', started_at = now() where id = '${jobId}'`);
    await the.rows(`insert into tool_calls (context_id, tenant_id, id, job_id, message_id, ordinal, name, effect, on_unknown,
      status, waits_for, asked_at) values ('${contextId}', 1, '${ids.next()}', '${jobId}', '${ids.next()}', 0, 'ask_user', 'none', 'tell',
      'waiting', 'answer', now())`);
    const plain = submissionTo(contextId, { mayAnswer: true });
    expect(await submit(the.database.db, plain)).toBeNull();
    const made = await schedule(the, contextId);
    await runDue(portsOf(the), dueOf(made), firstOf(made));
    const [run] = await runsOf(the, made);
    expect(run?.jobId).not.toBe(jobId);
    expect(await jobsIn(the, contextId)).toBe(2);
  });
});

describe('overlap', () => {
  const secondRun = async (overlap: 'queue' | 'skip' | 'interrupt', end = false) => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { overlap });
    await runDue(portsOf(the), dueOf(made), firstOf(made));
    if (end) {
      await the.rows(`update jobs set status = 'completed', started_at = now(), finished_at = now()
        where context_id = '${contextId}'`);
      await the.rows(`update contexts set queued = 0 where id = '${contextId}'`);
    }
    await runDue(portsOf(the), dueOf(made), firstOf(made) + MINUTE);
    const jobs = await the.rows(`select status, stop_reason from jobs where context_id = '${contextId}' order by id`);
    return { statuses: await statuses(the, made), jobs: jobs.map(({ status }) => status) };
  };

  test('queue: the input is posted behind the job of the last run', async () => {
    expect(await secondRun('queue')).toEqual({ statuses: ['started', 'started'], jobs: ['queued', 'queued'] });
  });

  test('skip: nothing is posted until that job has ended', async () => {
    expect(await secondRun('skip')).toEqual({ statuses: ['started', 'skipped'], jobs: ['queued'] });
    expect(await secondRun('skip', true)).toEqual({ statuses: ['started', 'started'], jobs: ['completed', 'queued'] });
  });

  test('interrupt: that job is cancelled', async () => {
    expect(await secondRun('interrupt')).toEqual({ statuses: ['started', 'started'], jobs: ['cancelled', 'queued'] });
    expect(await secondRun('interrupt', true)).toEqual({
      statuses: ['started', 'started'],
      jobs: ['completed', 'queued'],
    });
  });

  test('interrupt: another job of the context goes on', async () => {
    const { contextId } = await the.context();
    const other = await the.submit(contextId);
    const made = await schedule(the, contextId, { overlap: 'interrupt' });
    for (const late of [0, 1, 2]) await runDue(portsOf(the), dueOf(made), firstOf(made) + late * MINUTE);
    const jobs = await the.rows(`select id, status from jobs where context_id = '${contextId}' order by id`);
    expect(jobs.map(({ status }) => status)).toEqual(['queued', 'cancelled', 'cancelled', 'queued']);
    expect(jobs[0]?.['id']).toBe(other);
  });

  test('a deleted job counts as ended', async () => {
    const { contextId, workerId } = await the.context();
    const worker = { name: 'w', role: null, config: {} };
    for (const overlap of ['skip', 'interrupt'] as const) {
      const made = await schedule(the, contextId, { overlap, target: { kind: 'worker', worker } });
      await runDue(portsOf(the), dueOf(made), firstOf(made));
      const [run] = await runsOf(the, made);
      const [row] = await the.rows(`select id from workers where context_id = '${run?.contextId}'`);
      await deleteWorker(the.ports(), DEFAULT_TENANT, row?.['id'] as typeof workerId);
      await runDue(portsOf(the), dueOf(made), firstOf(made) + MINUTE);
      expect(await statuses(the, made)).toEqual(['started', 'started']);
    }
  });
});

describe('a refusal', () => {
  test('of the target is logged, and the schedule goes on', async () => {
    const { contextId } = await the.context();
    await the.rows(`update contexts set stopped = true where id = '${contextId}'`);
    const made = await schedule(the, contextId);
    expect(await runDue(portsOf(the), dueOf(made), firstOf(made))).toBe('failed');
    expect(await runsOf(the, made)).toMatchObject([
      { status: 'failed', jobId: null, error: { code: 'worker_stopped', message: expect.stringContaining('stopped') } },
    ]);
    await the.rows(`update contexts set stopped = false where id = '${contextId}'`);
    expect(await runDue(portsOf(the), dueOf(made), firstOf(made) + MINUTE)).toBe('started');
  });

  test('of a full queue too, and what was written before it is undone', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { overlap: 'interrupt' });
    await runDue(portsOf(the), dueOf(made), firstOf(made));
    expect(await runDue(portsOf(the, { queueLimit: 0 }), dueOf(made), firstOf(made) + MINUTE)).toBe('failed');
    expect((await runsOf(the, made)).at(-1)?.error?.code).toBe('queue_full');
    // The job of the last run was not cancelled.
    expect(await the.rows(`select status from jobs where context_id = '${contextId}'`)).toEqual([{ status: 'queued' }]);
  });

  test('of a tenant that has its limit of queued jobs', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { overlap: 'interrupt' });
    // Other tests have left jobs.
    const [before] = await the.rows(`select count(*)::int as n from jobs where status in ('queued', 'delayed')`);
    const most = Number(before?.['n']) + 1;
    const due = { ...dueOf(made), limits: { queued_jobs: most } };
    expect(await runDue(portsOf(the), due, firstOf(made))).toBe('started');
    // The job that it replaces makes room for it.
    expect(await runDue(portsOf(the), due, firstOf(made) + MINUTE)).toBe('started');
    const other = await schedule(the, contextId);
    const ports = portsOf(the, { tenantLimits: { queued_jobs: most } });
    expect(await runDue(ports, dueOf(other), firstOf(other))).toBe('failed');
    expect((await runsOf(the, other)).at(-1)?.error?.code).toBe('quota_exceeded');
  });

  test('of a tenant that may store no more', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId);
    await the.rows(`update contexts set stored_bytes = 1024 * 1024 - 20 where id = '${contextId}'`);
    const due = { ...dueOf(made), limits: { stored_mb: 1 } };
    expect(await runDue(portsOf(the), due, firstOf(made))).toBe('failed');
    expect((await runsOf(the, made)).at(-1)?.error?.code).toBe('quota_exceeded');
    await the.rows(`update contexts set stored_bytes = 0 where id = '${contextId}'`);
    expect(await runDue(portsOf(the), { ...due, limits: { stored_mb: 100 } }, firstOf(made) + MINUTE)).toBe('started');
  });

  test('of a role that is gone', async () => {
    const { contextId } = await the.context();
    const worker = { name: 'w', role: 'gone', config: {} };
    const made = await schedule(the, contextId, { target: { kind: 'worker', worker } });
    const roleOf = async () => refuse('unknown_role', 'No role has the name "gone".');
    expect(await runDue(portsOf(the, { roleOf }), dueOf(made), firstOf(made))).toBe('failed');
    expect((await runsOf(the, made))[0]?.error).toEqual({
      code: 'unknown_role',
      message: 'No role has the name "gone".',
    });
    expect(await current(the, made)).toMatchObject({ paused: false, nextRunAt: firstOf(made) + MINUTE });
  });

  test('of a deleted context pauses the schedule, with a reason, until it has another target', async () => {
    const { contextId, workerId } = await the.context();
    const made = await schedule(the, contextId);
    await deleteWorker(the.ports(), DEFAULT_TENANT, workerId);
    expect(await runDue(portsOf(the), dueOf(made), firstOf(made))).toBe('failed');
    const paused = await current(the, made);
    expect(paused).toMatchObject({ paused: true, nextRunAt: null });
    expect(paused.pausedReason).toContain(contextId);
    const other = await the.context();
    const target = { kind: 'context', contextId: other.contextId } as const;
    const change = changeSchedule(DEFAULT_TENANT, made.id, { target, paused: false });
    expect(await perform(the.ports(), change)).toMatchObject({
      kind: 'done',
      value: { paused: false, pausedReason: null },
    });
    expect(await runDue(portsOf(the), dueOf(await current(the, made)), firstOf(made) + MINUTE)).toBe('started');
    expect(await jobsIn(the, other.contextId)).toBe(1);
  });
});

describe('missed occurrences', () => {
  const after = async (catchUp: 'none' | 'one' | 'all', minutes: number) => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { catchUp });
    await runAll(portsOf(the), made, firstOf(made) + minutes * MINUTE + 30_000);
    const runs = await runsOf(the, made);
    const place = (time: number | null) => (time === null ? null : (time - firstOf(made)) / MINUTE);
    return runs.map(({ status, occurrence, missedUntil }) => [status, place(occurrence), place(missedUntil)]);
  };

  test('one entry stands for all that never run', async () => {
    expect(await after('one', 5)).toEqual([
      ['missed', 0, 4],
      ['started', 5, null],
    ]);
    expect(await after('none', 5)).toEqual([
      ['missed', 0, 4],
      ['started', 5, null],
    ]);
  });

  test('all: each runs, in order', async () => {
    expect(await after('all', 3)).toEqual([0, 1, 2, 3].map((place) => ['started', place, null]));
    const many = await after('all', 149);
    expect(many[0]).toEqual(['missed', 0, 49]);
    expect(many.slice(1)).toEqual(Array.from({ length: 100 }, (_, place) => ['started', 50 + place, null]));
  });

  test('none: after a pause nothing runs late', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { catchUp: 'none', timing: { kind: 'cron', cron: '0 0 1 1 *' } });
    await runAll(portsOf(the), made, firstOf(made) + 2 * MINUTE);
    expect(await statuses(the, made)).toEqual(['missed']);
    expect(await jobsIn(the, contextId)).toBe(0);
  });

  test('a paused schedule is not due, and catches up when it goes on', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { catchUp: 'one' });
    const change = async (paused: boolean) => {
      const outcome = await perform(the.ports(), changeSchedule(DEFAULT_TENANT, made.id, { paused }));
      if (outcome.kind === 'refused') throw new Error(outcome.message);
      return outcome.value;
    };
    const paused = await change(true);
    expect(paused).toMatchObject({ nextRunAt: null, nextOccurrence: firstOf(made) });
    expect(await runDue(portsOf(the), dueOf(paused), firstOf(made) + MINUTE)).toBe('not_taken');
    const resumed = await change(false);
    expect(resumed.nextRunAt).toBe(firstOf(made));
    expect(await runAll(portsOf(the), resumed, firstOf(made) + 3 * MINUTE)).toEqual(['started']);
    expect(await statuses(the, made)).toEqual(['missed', 'started']);
  });
});

describe('a manual run', () => {
  test('is no occurrence, and works while the schedule is paused', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId, { paused: true });
    const ran = await perform(
      the.ports(),
      await runNow(portsOf(the), { tenantId: DEFAULT_TENANT, allow: {}, limits: {} }, made.id),
    );
    expect(ran.kind).toBe('done');
    const [run] = await runsOf(the, made);
    expect(run).toMatchObject({ status: 'started', manual: true, occurrence: null });
    expect(await current(the, made)).toMatchObject({
      nextOccurrence: firstOf(made),
      nextRunAt: null,
      lastJobId: run?.jobId,
      lastRunAt: expect.any(Number),
    });
  });

  test('of a schedule that changed meanwhile is refused', async () => {
    const { contextId } = await the.context();
    const made = await schedule(the, contextId);
    const run = await runNow(portsOf(the), { tenantId: DEFAULT_TENANT, allow: {}, limits: {} }, made.id);
    await perform(the.ports(), changeSchedule(DEFAULT_TENANT, made.id, { name: 'other' }));
    expect(await perform(the.ports(), run)).toMatchObject({ kind: 'refused', code: 'version_conflict' });
    expect(await jobsIn(the, contextId)).toBe(0);
  });
});

test('a changed, paused or deleted schedule is not run as it was found', async () => {
  const { contextId } = await the.context();
  const made = await schedule(the, contextId);
  await perform(the.ports(), changeSchedule(DEFAULT_TENANT, made.id, { content: 'other' }));
  expect(await runDue(portsOf(the), dueOf(made), firstOf(made))).toBe('not_taken');
  const changed = await current(the, made);
  await perform(the.ports(), removeSchedule(DEFAULT_TENANT, made.id));
  expect(await runDue(portsOf(the), dueOf(changed), firstOf(made))).toBe('not_taken');
  expect(await jobsIn(the, contextId)).toBe(0);
});

test('another timing or time zone starts again', async () => {
  const { contextId } = await the.context();
  const made = await schedule(the, contextId, { timing: { kind: 'cron', cron: '0 12 * * *' }, timezone: 'UTC' });
  const outcome = await perform(the.ports(), changeSchedule(DEFAULT_TENANT, made.id, { timezone: 'Asia/Tokyo' }));
  if (outcome.kind === 'refused') throw new Error(outcome.message);
  expect(new Date(firstOf(outcome.value)).toISOString()).toContain('T03:00:00');
  const refused = await perform(the.ports(), changeSchedule(DEFAULT_TENANT, made.id, { timezone: 'Nowhere' }));
  expect(refused).toMatchObject({ kind: 'refused', code: 'invalid_request', param: 'timezone' });
});

test('schedules of a tenant with many that are due do not hold up those of another', async () => {
  const { contextId } = await the.context();
  const other = 77 as TenantId;
  await the.rows(`insert into tenants (id, name) values (77, 'other')`);
  const theirs = await the.context({ tenantId: other });
  for (let count = 0; count < 60; count += 1) await schedule(the, contextId);
  const late = await schedule(the, theirs.contextId, { tenantId: other });
  const at = firstOf(late) + MINUTE;
  const { due } = await dueSchedules(the.database.db, 10, at);
  expect(due).toHaveLength(10);
  expect(due.map(({ id }) => id)).toContain(late.id);
  await the.rows('delete from schedules');
});

test('the next due time is returned, and one with an error is tried again later', async () => {
  const { contextId } = await the.context();
  await the.rows('delete from schedules');
  expect(await dueSchedules(the.database.db, 10)).toEqual({ due: [], nextInMs: null });
  const made = await schedule(the, contextId);
  const at = firstOf(made);
  expect(await dueSchedules(the.database.db, 10, at - 1_234)).toEqual({ due: [], nextInMs: 1_234 });
  expect(await expectDue(the, at)).toEqual([dueOf(made)]);
  await the.rows(
    `update schedules set next_run_at = now() - interval '1 second', next_occurrence = now() - interval '1 second'`,
  );
  await postpone(the.database.db, dueOf(made), 10_000);
  const { due, nextInMs } = await dueSchedules(the.database.db, 10);
  expect(due).toEqual([]);
  expect(nextInMs).toBeGreaterThan(8_000);
});

test('neither the backlog of a tenant nor a suspended tenant keeps the schedules of others from their turn', async () => {
  const { contextId } = await the.context();
  await the.rows('delete from schedules');
  const late = await schedule(the, contextId);
  await the.rows(`insert into schedules select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
    from schedules s, generate_series(1, 6000) where s.id = '${late.id}'`);
  const other = await ensureTenant(the.database.db, 'punctual');
  const { contextId: theirs } = await the.context({ tenantId: other });
  const own = await schedule(the, theirs, { tenantId: other });
  const at = Math.max(firstOf(own), firstOf(late)) + 1;
  await the.rows(`update schedules set next_run_at = next_run_at - interval '1 hour' where tenant_id = 1`);
  const found = await expectDue(the, at, 2);
  expect(new Set(found.map(({ tenantId }) => tenantId))).toEqual(new Set([DEFAULT_TENANT, other]));
  await the.rows(`update tenants set status = 'suspended' where id = 1`);
  expect((await expectDue(the, at, 2)).map(({ id }) => id)).toEqual([own.id]);
  await the.rows(`update tenants set status = 'active' where id = 1`);
  await the.rows('delete from schedules');
});

test('the run log keeps the newest runs, and is deleted with its schedule', async () => {
  const { contextId } = await the.context();
  const made = await schedule(the, contextId);
  await the.rows(`insert into schedule_runs (id, tenant_id, schedule_id, status, job_id)
    select gen_random_uuid(), 1, '${made.id}', 'started', gen_random_uuid() from generate_series(1, ${SCHEDULE_LIMITS.runs + 5})`);
  // Random ids of version 4 come before and after; the next run is kept among the newest by its time.
  await the.rows(
    `update schedule_runs set id = ('00000000' || substr(id::text, 9))::uuid where schedule_id = '${made.id}'`,
  );
  await runDue(portsOf(the), dueOf(made), firstOf(made));
  const runs = await runsOf(the, made);
  expect(runs).toHaveLength(SCHEDULE_LIMITS.runs);
  expect(runs.at(-1)?.occurrence).toBe(firstOf(made));
  await perform(the.ports(), removeSchedule(DEFAULT_TENANT, made.id));
  expect(await the.rows(`select 1 from schedule_runs where schedule_id = '${made.id}'`)).toEqual([]);
});

test('a tenant has a limited number of schedules', async () => {
  const tenantId = 78 as TenantId;
  await the.rows(`insert into tenants (id, name) values (78, 'full')`);
  const { contextId } = await the.context({ tenantId });
  const made = await schedule(the, contextId, { tenantId });
  await the.rows(`insert into schedules select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
    from schedules s, generate_series(2, ${SCHEDULE_LIMITS.schedules}) where s.id = '${made.id}'`);
  await expect(schedule(the, contextId, { tenantId })).rejects.toThrow('at most 1000 schedules');
  await the.rows('delete from schedules where tenant_id = 78');
});
