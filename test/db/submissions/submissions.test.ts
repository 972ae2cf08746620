// Submissions become jobs exactly once, whatever dies or competes, and in the order of each context.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { perform } from '../../../src/commands/perform.ts';
import { deleteTenant } from '../../../src/commands/tenants/manage-tenants.ts';
import { removeTenant } from '../../../src/commands/tenants/remove-tenant.ts';
import { stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { refuse } from '../../../src/core/errors.ts';
import { DEFAULT_TENANT, type JobId } from '../../../src/core/ids.ts';
import { PEER_LIMITS } from '../../../src/core/workers/peer-limits.ts';
import {
  contextsWithSubmissions,
  failSubmission,
  forgetSubmissions,
} from '../../../src/db/submissions/due-submissions.ts';
import { cancelSubmission, findSubmittedJob } from '../../../src/db/submissions/submitted-jobs.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { turnDueSubmissions } from '../../../src/workers/scheduling/submissions.ts';
import { tagOf } from '../../services/statements.ts';
import { readParsed } from '../../workers/scheduling/read-parsed.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { QUEUED_JOB, WAITING, failed, newWorker, submissionsOf, type State } from './submissions-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(() => the.rows('delete from submissions'));

const { stateOf, turnAll, submit, toContext, statusOf } = submissionsOf(() => the);

describe('a submission', () => {
  test('becomes a job or stays, if the process dies before any of its statements or its commit', async () => {
    let deaths = 0;
    for (let place = 1; ; place += 1) {
      const { contextId } = await the.context();
      const jobs = [await submit(newWorker()), await toContext(contextId), await toContext(contextId)];
      let sent = 0;
      const hook = (): void => {
        sent += 1;
        // A process that is dead sends nothing more.
        if (sent >= place) throw new Error('died');
      };
      await turnDueSubmissions(stateOf(the.open({ max: 1, hook }))).catch(() => undefined);
      for (const id of jobs) expect([[WAITING], [QUEUED_JOB]]).toContainEqual(await statusOf(id));
      await turnAll();
      for (const id of jobs) expect(await statusOf(id)).toEqual([QUEUED_JOB]);
      expect(await the.row(contextId)).toMatchObject({ queued: 2, scheduling_status: 'runnable' });
      if (sent < place) break;
      deaths += 1;
    }
    // Two transactions, and what is read before.
    expect(deaths).toBeGreaterThan(18);
  });

  test('becomes one job, and those of a context keep their order, if many processes look at once', async () => {
    const contexts = await Promise.all(Array.from({ length: 3 }, () => the.context()));
    const sent: JobId[][] = contexts.map(() => []);
    for (let at = 0; at < 15; at += 1)
      for (const [place, { contextId }] of contexts.entries()) sent[place]?.push(await toContext(contextId));
    const states = Array.from({ length: 4 }, () => stateOf(the.open({ max: 2 })));
    while ((await the.rows('select 1 from submissions')).length > 0)
      await Promise.all(states.map((state) => turnDueSubmissions(state)));
    for (const [place, { contextId }] of contexts.entries()) {
      const jobs = await the.rows(`select id from jobs where context_id = '${contextId}' order by position`);
      expect(jobs.map(({ id }) => id)).toEqual(sent[place]);
    }
  });

  test('notifies the context, with the job in it', async () => {
    const body = newWorker({ user: 'alice', config: { max_steps: 3 }, input: { content: 'go', priority: 2 } });
    const id = await submit(body);
    const ports = the.ports();
    await turnAll({ ...stateOf(), ...ports });
    expect(ports.wakeUps).toMatchObject([{ contextId: body.context_id }]);
    expect(
      await the.rows(`select w.id, w.name, w.user_name, w.config, j.priority, j.user_name as "user" from jobs j
        join workers w on w.id = j.worker_id where j.id = '${id}'`),
    ).toEqual([
      { id: body.worker_id, name: 'w', user_name: 'alice', config: { max_steps: 3 }, priority: 2, user: 'alice' },
    ]);
  });

  test('that is submitted again after it became a job is no second one', async () => {
    const body = { ...newWorker(), job_id: ids.next<JobId>() };
    await submit(body);
    await turnAll();
    await submit(body);
    expect(await the.rows('select 1 from submissions')).toEqual([]);
    // As if the two had crossed.
    await the.rows(`insert into submissions (id, tenant_id, target_context_id, worker_id, creates_worker, body, bytes)
      values ('${body.job_id}', 1, '${body.context_id}', '${body.worker_id}', true, '${JSON.stringify(body)}', 9)`);
    await turnAll();
    expect(await statusOf(body.job_id)).toEqual([QUEUED_JOB]);
  });

  test('does not overtake an earlier one of its context that another process has taken', async () => {
    const { contextId } = await the.context();
    const [taken, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hook = async (text: string): Promise<void> => {
      if (tagOf(text) !== 'jobs.submit') return;
      taken.resolve();
      await gate.promise;
    };
    const first = await toContext(contextId);
    const turning = turnAll(stateOf(the.open({ max: 2, hook })));
    await taken.promise;
    const second = await toContext(contextId);
    await turnAll(stateOf(the.open({ max: 2 })));
    expect(await statusOf(second)).toEqual([WAITING]);
    gate.resolve();
    await turning;
    await turnAll();
    const jobs = await the.rows(`select id from jobs where context_id = '${contextId}' order by position`);
    expect(jobs.map(({ id }) => id)).toEqual([first, second]);
  });

  test('waits while another process has those of its context', async () => {
    const { contextId } = await the.context();
    const id = await toContext(contextId);
    await the.database.transaction(async (tx) => {
      await tx.execute(sql`select 1 from submissions where id = ${id} for update`);
      await turnAll(stateOf(the.open({ max: 2 })));
    });
    expect(await statusOf(id)).toEqual([WAITING]);
    await turnAll();
    expect(await statusOf(id)).toEqual([QUEUED_JOB]);
  });
});

describe('what is refused', () => {
  test('stays with its reason, and does not hold up the next ones', async () => {
    const { contextId, workerId } = await the.context();
    const stopped = await the.context();
    await perform(
      the.ports(),
      stopWorker(the.ports(), { tenantId: DEFAULT_TENANT, contextId: stopped.contextId }, { by: null }),
    );
    const taken = await submit(newWorker({ worker_id: workerId }));
    const after = await toContext(contextId);
    const invalid = await submit({ context_id: contextId, input: { content: '' } });
    const atStopped = await toContext(stopped.contextId);
    const input = { content: 'secret', branch: 'absent', metadata: { order: 7 } };
    const branch = await submit({ context_id: contextId, input });
    const last = await toContext(contextId);
    await turnAll();
    expect(await statusOf(taken)).toEqual([failed('invalid_request')]);
    expect(await statusOf(after)).toEqual([QUEUED_JOB]);
    expect(await statusOf(invalid)).toEqual([failed('invalid_request')]);
    expect(await statusOf(atStopped)).toEqual([failed('worker_stopped')]);
    expect(await statusOf(branch)).toEqual([failed('not_found')]);
    expect(await statusOf(last)).toEqual([QUEUED_JOB]);
    expect(await findSubmittedJob(the.database.db, DEFAULT_TENANT, branch)).toMatchObject({
      error: { code: 'not_found', message: 'No branch has the name absent.' },
      contextId,
      workerId,
      branch: 'absent',
      metadata: { order: 7 },
    });
    const [kept] = await the.rows(`select body::text from submissions where id = '${branch}'`);
    expect(kept?.['body']).not.toContain('secret');
  });

  test('is shown also if its metadata is no object', async () => {
    const { contextId } = await the.context();
    for (const metadata of [7, 'x', ['a'], null]) {
      const id = await submit({ context_id: contextId, input: { content: 'go', metadata } });
      await turnAll();
      expect(await statusOf(id)).toEqual([failed('invalid_request')]);
      expect(await findSubmittedJob(the.database.db, DEFAULT_TENANT, id)).toMatchObject({ metadata: null });
    }
  });

  test('by the role, by the queue, and by the limits of the tenant', async () => {
    const id = await submit(newWorker({ role: 'gone' }));
    const noRole = async () => refuse('unknown_role', 'No role has the name "gone".');
    await turnAll(stateOf(the.database, { readSubmission: noRole }));
    expect(await statusOf(id)).toEqual([failed('unknown_role')]);
    const { contextId } = await the.context();
    const both = [await toContext(contextId), await toContext(contextId)];
    await turnAll(stateOf(the.database, { peers: { ...PEER_LIMITS, queuedInputs: 1 } }));
    expect(await Promise.all(both.map(statusOf))).toEqual([[QUEUED_JOB], [WAITING]]);
    const tenantId = await ensureTenant(the.database.db, 'limited');
    await the.rows(`update tenants set limits = '{"workers": 1}' where id = ${tenantId}`);
    const first = await submit(newWorker(), 'limited');
    await turnAll();
    const second = await submit(newWorker(), 'limited');
    await turnAll();
    expect(await Promise.all([first, second].map(statusOf))).toEqual([[QUEUED_JOB], [failed('quota_exceeded')]]);
  });

  test('an error of the database postpones those of the context, and no others', async () => {
    const bad = await submit(newWorker());
    const good = await submit(newWorker());
    const readSubmission: State['readSubmission'] = async (tenant, body) => {
      if (JSON.stringify(body).includes(bad)) throw new Error('away');
      return readParsed(tenant, body);
    };
    await turnAll(stateOf(the.database, { readSubmission }));
    expect(await statusOf(good)).toEqual([QUEUED_JOB]);
    expect(await statusOf(bad)).toEqual([WAITING]);
    expect(await contextsWithSubmissions(the.database.db, 10)).toEqual([]);
    await the.rows("update submissions set retry_at = date_trunc('milliseconds', now())");
    await turnAll();
    expect(await statusOf(bad)).toEqual([QUEUED_JOB]);
  });
});

test('a submission of a suspended tenant waits until it goes on', async () => {
  const tenantId = await ensureTenant(the.database.db, 'asleep');
  const id = await submit(newWorker(), 'asleep');
  const [due] = await contextsWithSubmissions(the.database.db, 10);
  await the.rows(`update tenants set status = 'suspended' where id = ${tenantId}`);
  await turnAll();
  expect(due?.tenantId).toBe(tenantId);
  expect(await statusOf(id)).toEqual([WAITING]);
  await the.rows(`update tenants set status = 'active' where id = ${tenantId}`);
  await turnAll();
  expect(await statusOf(id)).toEqual([QUEUED_JOB]);
});

test('a cancel and the turn of a submission exclude each other', async () => {
  const { contextId } = await the.context();
  for (let round = 0; round < 10; round += 1) {
    const id = await toContext(contextId);
    const [cancelled] = await Promise.all([
      cancelSubmission(the.database.db, DEFAULT_TENANT, id),
      turnAll(stateOf(the.open({ max: 2 }))),
    ]);
    expect(await statusOf(id)).toEqual([
      cancelled ? { kind: 'submission', status: 'cancelled', code: null } : QUEUED_JOB,
    ]);
    await perform(the.ports(), cancelJob(the.ports(), { tenantId: DEFAULT_TENANT, jobId: id, reason: null, by: null }));
  }
});

test('the deletion of a tenant removes its submissions and its grants, and nothing more is accepted', async () => {
  const { db } = the.database;
  const tenantId = await ensureTenant(db, 'leaving');
  const [waiting, refused] = [await submit(newWorker(), 'leaving'), await submit(newWorker(), 'leaving')];
  await failSubmission(db, refused, { code: 'forbidden', message: 'x' });
  await the.rows(`insert into submission_grants (role_name, tenant_id) values ('shop', ${tenantId})`);
  const actor = { kind: 'operator', id: null, user: null, onBehalfOf: null } as const;
  const deletion = deleteTenant('leaving', { actor, requestId: 'r-1', keys: [] });
  expect((await perform(the.ports(), deletion)).kind).toBe('done');
  await expect(submit(newWorker(), 'leaving')).rejects.toMatchObject({ cause: { code: 'NS002' } });
  const removal = () => removeTenant({ ...the.ports(), ids }, tenantId, () => false);
  await expect.poll(removal, { timeout: 60_000 }).toBe('removed');
  for (const id of [waiting, refused]) expect(await statusOf(id)).toEqual([]);
  expect(await the.rows(`select 1 from submission_grants where tenant_id = ${tenantId}`)).toEqual([]);
  await expect(submit(newWorker(), 'leaving')).rejects.toMatchObject({ cause: { code: 'NS007' } });
});

test('old refusals are forgotten, and so is what a deleted tenant left', async () => {
  const { contextId } = await the.context();
  const [old, recent] = [await toContext(contextId), await toContext(contextId)];
  const waiting = await toContext(contextId);
  for (const [id, days] of [
    [old, 31],
    [recent, 29],
  ])
    await the.rows(`update submissions set status = 'cancelled', finished_at = now() - interval '${days} days'
      where id = '${id}'`);
  const tenantId = await ensureTenant(the.database.db, 'left');
  const late = await submit(newWorker(), 'left');
  await the.rows(`delete from tenants where id = ${tenantId}`);
  expect(await forgetSubmissions(the.database.db, 10)).toBe(2);
  const left = await the.rows('select id from submissions order by position');
  expect(left.map(({ id }) => id)).toEqual([recent, waiting]);
  expect(await statusOf(late)).toEqual([]);
});
