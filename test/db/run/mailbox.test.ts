// Writes of others into a context's mailbox: submits, withdrawals, stop requests, stop and start.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { perform, performWithin } from '../../../src/commands/perform.ts';
import { startWorker, stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type MessageId, type TenantId } from '../../../src/core/ids.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import { admit } from '../../../src/core/transitions/admit.ts';
import { append } from '../../../src/db/run/append/append.ts';
import type { ContextRow } from '../../../src/db/run/contexts.ts';
import { readMailbox, readParts } from '../../../src/db/run/mailbox/mailbox.ts';
import { places } from '../../../src/db/run/places.ts';
import { submit } from '../../../src/db/write/inputs/submit.ts';
import {
  lockForControl,
  fence,
  raiseControl,
  setStopped,
  writeStopRequest,
  withdraw,
} from '../../../src/db/run/stop-requests.ts';
import { snapshot } from '../../core/builders.ts';
import { tagOf } from '../../services/statements.ts';
import { TIMES, given, ids, type Given } from '../database-fixture.ts';
import { postedInput, submissionTo } from '../inputs.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const db = () => the.database.db;
const other = 2 as TenantId;

/** A context that is claimed, its first input admitted. */
async function running(): Promise<{ row: ContextRow; contextId: ContextId; jobId: JobId }> {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const row = await the.claimed(contextId);
  const stored = await readMailbox(db(), row);
  if (stored?.mailbox.next == null) throw new Error('nothing is queued');
  const [outcome] = await append(db(), [admit(snapshot({ ...stored.mailbox }), stored.mailbox.next)]);
  expect(outcome?.kind).toBe('committed');
  return { row, contextId, jobId };
}

const jobs = (contextId: ContextId) =>
  the.rows(`select id, status, position, stop_kind from jobs where context_id = '${contextId}' order by position`);

describe('submit', () => {
  test('wakes an idle context, and only counts in an active one', async () => {
    const { contextId } = await the.context();
    const first = await submit(db(), submissionTo(contextId));
    expect(first).toEqual({ headSeq: 0, wakeSeq: 1, epoch: 0, runnable: true });
    await the.claimed(contextId);
    expect(await submit(db(), submissionTo(contextId))).toMatchObject({ wakeSeq: 2, runnable: false });
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'running',
      queued: 2,
      wake_seq: 2,
      next_check_at: null,
    });
  });

  test('does not shorten a wait', async () => {
    const { contextId } = await the.context();
    await the.rows(
      `update contexts set scheduling_status = 'waiting', next_check_at = now() + interval '1 hour' where id = '${contextId}'`,
    );
    const before = await the.row(contextId);
    expect(await submit(db(), submissionTo(contextId))).toMatchObject({ runnable: false });
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'waiting',
      next_check_at: before['next_check_at'],
      queued: 1,
    });
  });

  test('the order of acceptance is the order of the queue, however many come at once', async () => {
    const { contextId } = await the.context();
    const pools = Array.from({ length: 4 }, () => the.open({ max: 4 }));
    const submitted = await Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const submission = submissionTo(contextId);
        const accepted = await submit(pools[n % 4]?.db ?? db(), submission);
        return { id: submission.jobId, wakeSeq: accepted?.wakeSeq ?? 0 };
      }),
    );
    submitted.sort((a, b) => a.wakeSeq - b.wakeSeq);
    expect(submitted.map(({ wakeSeq }) => wakeSeq)).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
    expect((await jobs(contextId)).map(({ id }) => id)).toEqual(submitted.map(({ id }) => id));
    expect(await the.row(contextId)).toMatchObject({ queued: 64 });
  });

  test('the limit of the queue holds, however many come at once', async () => {
    const { contextId } = await the.context();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, () => submit(db(), submissionTo(contextId, { queueLimit: 5 }))),
    );
    expect(outcomes.filter((outcome) => outcome !== null)).toHaveLength(5);
    expect(await jobs(contextId)).toHaveLength(5);
    expect(await the.rows(`select 1 from messages where context_id = '${contextId}'`)).toHaveLength(5);
  });

  test('only one of many submits that require an idle context is accepted', async () => {
    const { contextId } = await the.context();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, () => submit(db(), submissionTo(contextId, { onlyIfIdle: true }))),
    );
    expect(outcomes.filter((outcome) => outcome !== null)).toHaveLength(1);
    expect(await jobs(contextId)).toHaveLength(1);
  });

  test.each(['runnable', 'waiting'])('a context that is %s is not idle', async (status) => {
    const { contextId } = await the.context();
    await the.rows(
      `update contexts set scheduling_status = '${status}', next_check_at = now() where id = '${contextId}'`,
    );
    expect(await submit(db(), submissionTo(contextId, { onlyIfIdle: true }))).toBeNull();
  });

  test('a stopped worker, another tenant’s and a missing one take nothing', async () => {
    const { contextId } = await the.context();
    expect(await submit(db(), submissionTo(contextId, { tenantId: other }))).toBeNull();
    expect(await submit(db(), submissionTo(ids.next<ContextId>()))).toBeNull();
    await setStopped(db(), DEFAULT_TENANT, contextId, true);
    expect(await submit(db(), submissionTo(contextId))).toBeNull();
    expect(await jobs(contextId)).toEqual([]);
    expect(await the.rows(`select 1 from messages where context_id = '${contextId}'`)).toEqual([]);
  });

  test('a run without an input adds no message', async () => {
    const { contextId } = await the.context();
    await the.submit(contextId, {
      input: null,
      maxSteps: 4,
      deadline: 2_000_000_000_123,
      metadata: { a: '\0' },
    });
    const [job] = await the.rows(`select * from jobs where context_id = '${contextId}'`);
    expect(job).toMatchObject({ kind: 'retry', message_id: null, max_steps: 4, metadata: { a: '\0' } });
    const mailbox = (await readMailbox(db(), await the.claimed(contextId)))?.mailbox;
    expect(mailbox?.next).toMatchObject({ kind: 'retry', deadline: 2_000_000_000_123 });
    expect(await the.rows(`select 1 from messages where context_id = '${contextId}'`)).toEqual([]);
  });
});

describe('a refused submit gives the reason', () => {
  const why = async (contextId: ContextId, over: { delivery?: 'queue' | 'reject'; tenantId?: TenantId } = {}) => {
    const command = submitInput(the.ports(), { ...postedInput({ queueLimit: 1, ...over }), contextId });
    const outcome = await performWithin(db(), command);
    return outcome.kind === 'refused' ? outcome.code : outcome.kind;
  };

  test.each([
    ['not_found', ids.next<ContextId>(), {}],
    ['not_found', null, { tenantId: other }],
    ['done', null, {}],
  ])('%s', async (code, contextId, over) => {
    expect(await why(contextId ?? (await the.context()).contextId, over)).toBe(code);
  });

  test('queue_full, context_busy, worker_stopped', async () => {
    const { contextId } = await the.context();
    expect(await why(contextId)).toBe('done');
    expect(await why(contextId)).toBe('queue_full');
    const busy = (await running()).contextId;
    expect(await why(busy, { delivery: 'reject' })).toBe('context_busy');
    await setStopped(db(), DEFAULT_TENANT, contextId, true);
    expect(await why(contextId)).toBe('worker_stopped');
  });
});

describe('withdraw', () => {
  const withdrawn = (contextId: ContextId, jobId: JobId) =>
    withdraw(db(), { tenantId: DEFAULT_TENANT, contextId }, [jobId], { reason: 'why', by: null });

  test('deletes a queued job with its receipt, and records it under a number', async () => {
    const { contextId } = await the.context();
    const jobId = await the.submit(contextId);
    expect(await withdrawn(contextId, jobId)).toEqual({
      headSeq: 1,
      jobIds: [jobId],
      met: [],
      followUp: false,
    });
    expect(await withdrawn(contextId, jobId)).toBeNull();
    const [job] = await the.rows(`select * from jobs where id = '${jobId}'`);
    expect(job).toMatchObject({ status: 'cancelled', stop_kind: 'cancel', stop_reason: 'why' });
    for (const column of ['stop_requested_at', 'stop_delivered_at', 'stopped_at', 'finished_at']) {
      expect(job?.[column]).not.toBeNull();
    }
    expect(await the.rows(`select status, seq from messages where job_id = '${jobId}'`)).toEqual([
      { status: 'withdrawn', seq: null },
    ]);
    expect(await the.rows(`select seq, name, data from events where context_id = '${contextId}'`)).toEqual([
      { seq: 1, name: 'JobFinished', data: { job_id: jobId, status: 'cancelled', attempt: 0 } },
    ]);
    expect(await the.row(contextId)).toMatchObject({ queued: 0, head_seq: 1 });
  });

  test('resets the failed claims of the withdrawn job, as soon as no work is left', async () => {
    const { contextId } = await the.context();
    const first = await the.submit(contextId);
    const second = await the.submit(contextId);
    await the.rows(`update contexts set failed_claims = 2 where id = '${contextId}'`);
    await withdrawn(contextId, first);
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'runnable', failed_claims: 2 });
    await withdrawn(contextId, second);
    expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'idle', failed_claims: 0 });
  });

  test('leaves running jobs, and those of another context', async () => {
    const { contextId, jobId } = await running();
    expect(await withdrawn(contextId, jobId)).toBeNull();
    const queued = await the.submit(contextId);
    expect(await withdrawn((await the.context()).contextId, queued)).toBeNull();
    expect(await the.row(contextId)).toMatchObject({ queued: 1 });
  });

  test('withdraws many in one statement, recorded in the order of the queue; the rest stays queued', async () => {
    const { contextId } = await the.context();
    const jobIds: JobId[] = [];
    for (let n = 0; n < 5; n += 1) jobIds.push(await the.submit(contextId));
    const [first, second, third, fourth, last] = jobIds;
    if (!first || !second || !third || !fourth || !last) throw new Error('no jobs');
    const take = (...ids: JobId[]) =>
      withdraw(db(), { tenantId: DEFAULT_TENANT, contextId }, ids, { reason: null, by: null });
    const taken = await take(fourth, ids.next<JobId>(), second, first);
    expect(taken?.headSeq).toBe(3);
    expect(new Set(taken?.jobIds)).toEqual(new Set([first, second, fourth]));
    expect(
      await the.rows(`select seq, data ->> 'job_id' as id from events where context_id = '${contextId}' order by seq`),
    ).toEqual([first, second, fourth].map((id, index) => ({ seq: index + 1, id })));
    expect(await the.row(contextId)).toMatchObject({ queued: 2, head_seq: 3, scheduling_status: 'runnable' });
    expect(await take(third, last, first)).toMatchObject({ headSeq: 5 });
    expect(await the.row(contextId)).toMatchObject({
      queued: 0,
      scheduling_status: 'idle',
      next_check_at: null,
    });
  });

  test('many at once are each withdrawn once', async () => {
    const { contextId } = await the.context();
    const jobId = await the.submit(contextId);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () =>
        the.database.transaction(async (tx) => {
          await lockForControl(tx, DEFAULT_TENANT, contextId, TIMES);
          return withdraw(tx, { tenantId: DEFAULT_TENANT, contextId }, [jobId], { reason: null, by: null });
        }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome !== null)).toHaveLength(1);
    expect(await the.row(contextId)).toMatchObject({ queued: 0, head_seq: 1, control_seq: 6 });
  });
});

describe('locking for control', () => {
  test('names the live owner, and raises control_seq alone', async () => {
    const { row, contextId } = await running();
    const before = await the.row(contextId);
    expect(await lockForControl(db(), DEFAULT_TENANT, contextId, TIMES)).toEqual({
      owner: before['lease_owner'],
      controlSeq: row.controlSeq + 1,
    });
    expect(await the.row(contextId)).toEqual({ ...before, control_seq: row.controlSeq + 1 });
  });

  test('of a context without a run raises the epoch', async () => {
    const { contextId } = await the.context();
    expect(await lockForControl(db(), DEFAULT_TENANT, contextId, TIMES)).toEqual({
      owner: null,
      controlSeq: 1,
    });
    expect(await the.row(contextId)).toMatchObject({
      lease_epoch: 1,
      control_seq: 1,
      scheduling_status: 'idle',
    });
  });

  test('of a dead owner takes its lease, and leaves the context to sweeps', async () => {
    const { row, contextId } = await running();
    await the.rows(`update processes set heartbeat_at = now() - interval '1 hour'`);
    expect(await lockForControl(db(), DEFAULT_TENANT, contextId, TIMES)).toEqual({
      owner: null,
      controlSeq: 1,
    });
    expect(await the.row(contextId)).toMatchObject({
      lease_epoch: row.lease.epoch + 1,
      lease_owner: null,
      scheduling_status: 'runnable',
      next_check_at: expect.anything(),
    });
  });

  test('leaves a wait unchanged', async () => {
    const { contextId } = await the.context();
    await the.rows(
      `update contexts set scheduling_status = 'waiting', next_check_at = now() + interval '1 hour' where id = '${contextId}'`,
    );
    const before = await the.row(contextId);
    await lockForControl(db(), DEFAULT_TENANT, contextId, TIMES);
    expect(await the.row(contextId)).toEqual({ ...before, control_seq: 1, lease_epoch: 1 });
  });

  test('another tenant’s context is not found', async () => {
    const { contextId } = await the.context();
    expect(await lockForControl(db(), other, contextId, TIMES)).toBeNull();
    expect(await raiseControl(db(), other, contextId)).toBe(false);
    expect(await raiseControl(db(), DEFAULT_TENANT, contextId)).toBe(true);
    expect(await the.row(contextId)).toMatchObject({ control_seq: 1, lease_epoch: 0 });
  });
});

describe('a stop request', () => {
  test('stays as first written, and is due after the grace period', async () => {
    const { contextId, jobId } = await running();
    await writeStopRequest(db(), DEFAULT_TENANT, jobId, {
      request: { kind: 'cancel' },
      reason: 'first',
      by: null,
      graceMs: 60_000,
    });
    const before = await the.row(contextId);
    await writeStopRequest(db(), DEFAULT_TENANT, jobId, {
      request: { kind: 'stop' },
      reason: 'second',
      by: null,
      graceMs: 0,
    });
    expect(await the.row(contextId)).toEqual(before);
    expect(before['next_check_at']).not.toBeNull();
    const [job] = await the.rows(`select stop_kind, stop_reason from jobs where id = '${jobId}'`);
    expect(job).toEqual({ stop_kind: 'cancel', stop_reason: 'first' });
  });

  test('is not written on a job that has ended', async () => {
    const { contextId } = await the.context();
    const jobId = await the.submit(contextId);
    await withdraw(db(), { tenantId: DEFAULT_TENANT, contextId }, [jobId], { reason: 'first', by: null });
    await writeStopRequest(db(), DEFAULT_TENANT, jobId, {
      request: { kind: 'interrupt', mode: 'keep' },
      reason: 'second',
      by: null,
      graceMs: 0,
    });
    expect(await jobs(contextId)).toMatchObject([{ stop_kind: 'cancel' }]);
  });

  test('on a queued job is read with it', async () => {
    const { contextId } = await the.context();
    const jobId = await the.submit(contextId);
    await writeStopRequest(db(), DEFAULT_TENANT, jobId, {
      request: { kind: 'interrupt', mode: 'keep' },
      reason: null,
      by: null,
      graceMs: 0,
    });
    const row = await the.claimed(contextId);
    const stored = await readMailbox(db(), row);
    expect(stored?.mailbox.next?.stopRequest).toMatchObject({ kind: 'interrupt', mode: 'keep' });
  });

  test('that goes unanswered lets a sweep fence the owner off, once', async () => {
    const { row, contextId, jobId } = await running();
    expect(await fence(db(), contextId)).toBeNull();
    await writeStopRequest(db(), DEFAULT_TENANT, jobId, {
      request: { kind: 'cancel' },
      reason: null,
      by: null,
      graceMs: 0,
    });
    expect(await fence(db(), contextId)).toEqual({ tenantId: DEFAULT_TENANT });
    expect(await the.row(contextId)).toMatchObject({
      lease_owner: null,
      lease_epoch: row.lease.epoch + 1,
      control_seq: row.controlSeq + 1,
      scheduling_status: 'runnable',
    });
    expect(await fence(db(), contextId)).toBeNull();
  });
});

describe('stop and start', () => {
  const target = (contextId: ContextId) => ({ tenantId: DEFAULT_TENANT, contextId });

  test('of an idle context show at once, once each', async () => {
    const { contextId } = await the.context();
    expect(await setStopped(db(), DEFAULT_TENANT, contextId, true)).toMatchObject({
      headSeq: 1,
      runnable: false,
    });
    expect(await setStopped(db(), DEFAULT_TENANT, contextId, true)).toMatchObject({ headSeq: 1 });
    expect(await the.row(contextId)).toMatchObject({ state: 'Stopped', stopped: true });
    expect(await setStopped(db(), DEFAULT_TENANT, contextId, false)).toMatchObject({
      headSeq: 2,
      runnable: false,
    });
    expect(await setStopped(db(), DEFAULT_TENANT, contextId, false)).toMatchObject({ headSeq: 2 });
    expect(await the.row(contextId)).toMatchObject({
      state: 'Idle',
      stopped: false,
      scheduling_status: 'idle',
    });
  });

  test('starting wakes queued work and sends a wake-up', async () => {
    const { contextId } = await the.context();
    const ports = the.ports();
    await the.submit(contextId);
    await perform(ports, stopWorker(ports, target(contextId), { by: null }));
    await the.rows(`update contexts set scheduling_status = 'idle', next_check_at = null where id = '${contextId}'`);
    await perform(ports, startWorker(ports, target(contextId)));
    const row = await the.row(contextId);
    expect(row).toMatchObject({ scheduling_status: 'runnable', queued: 1, next_check_at: expect.anything() });
    expect(ports.wakeUps).toEqual([{ contextId, wakeSeq: row['wake_seq'], epoch: row['lease_epoch'] }]);
  });

  test('stopping during a job leaves the state until its end', async () => {
    const { contextId, jobId } = await running();
    const ports = the.ports();
    await perform(ports, stopWorker(ports, target(contextId), { by: null }));
    expect(await the.row(contextId)).toMatchObject({
      stopped: true,
      state: 'AwaitingLLMResponse',
      scheduling_status: 'running',
    });
    expect(await jobs(contextId)).toMatchObject([{ id: jobId, stop_kind: 'stop' }]);
  });

  test('stopping a context without a run settles it at once', async () => {
    const { contextId, jobId } = await running();
    await the.rows(`update processes set heartbeat_at = now() - interval '1 hour'`);
    const ports = the.ports();
    await perform(ports, stopWorker(ports, target(contextId), { by: null }));
    expect(await the.row(contextId)).toMatchObject({
      state: 'Stopped',
      scheduling_status: 'idle',
      queued: 0,
    });
    expect(await jobs(contextId)).toMatchObject([{ id: jobId, status: 'cancelled' }]);
  });
});

describe('cancel', () => {
  const cancel = (tenantId: TenantId, jobId: JobId) => {
    const ports = the.ports();
    return perform(ports, cancelJob(ports, { tenantId, jobId, reason: null, by: null }));
  };

  test('of another tenant’s job, or of a missing one, is not found', async () => {
    const { jobId, contextId } = await running();
    expect(await cancel(other, jobId)).toMatchObject({ code: 'not_found' });
    expect(await cancel(DEFAULT_TENANT, ids.next<JobId>())).toMatchObject({ code: 'not_found' });
    expect(await jobs(contextId)).toMatchObject([{ status: 'running', stop_kind: null }]);
  });

  test('a job without a run is settled, and the next in the queue is woken', async () => {
    const { contextId, jobId } = await running();
    const next = await the.submit(contextId);
    await the.rows(`update processes set heartbeat_at = now() - interval '1 hour'`);
    const ports = the.ports();
    await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }));
    expect(await jobs(contextId)).toMatchObject([
      { id: jobId, status: 'cancelled' },
      { id: next, status: 'queued' },
    ]);
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'runnable',
      queued: 1,
      state: 'Idle',
    });
    expect(ports.wakeUps).toMatchObject([{ contextId }]);
  });

  test('that comes after the job has ended leaves the job that runs by then alone', async () => {
    const { contextId, jobId } = await running();
    const ports = the.ports();
    const signalled: string[] = [];
    const late = the.open({
      max: 1,
      hook: async (text) => {
        if (tagOf(text) !== 'contexts.lock_for_control') return;
        await the.rows(`update jobs set status = 'completed', finished_at = now() where id = '${jobId}'`);
      },
    });
    const owner = (await the.row(contextId))['lease_owner'];
    await ports.bus.subscribe({ name: `process:${String(owner)}` }, () => signalled.push('signalled'));
    await perform(
      { ...ports, database: late },
      cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(signalled).toEqual([]);
    expect(await jobs(contextId)).toMatchObject([{ status: 'completed', stop_kind: null }]);
  });
});

test('a withdrawn input leaves a context that accepts inputs which require it idle', async () => {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const ports = the.ports();
  await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }));
  const submission = submissionTo(contextId, {
    onlyIfIdle: true,
    input: { messageId: ids.next<MessageId>(), content: [] },
  });
  expect(await submit(db(), submission)).not.toBeNull();
});

test('the reason of a stop request is read as it was written, even if it looks like an encoded character', async () => {
  const { row, contextId, jobId } = await running();
  const reason = 'not \uF8FE0041, "quoted", \\u0000 \uF8FE';
  const ports = the.ports();
  await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason, by: null }));
  expect((await readMailbox(db(), row))?.mailbox.job?.stopRequest).toMatchObject({ kind: 'cancel', reason });
  expect(await the.rows(`select stop_reason from jobs where context_id = '${contextId}'`)).toEqual([
    { stop_reason: reason },
  ]);
});

describe('inputs that are too long to be read together', () => {
  const text = (bytes: number) => [{ type: 'text' as const, text: 'x'.repeat(bytes) }];
  const placesOf = (rows: readonly ContextRow[]) =>
    places(rows.map(({ lease, activeBranch: branch, steers }) => ({ ...lease, branch, steers })));

  const steered = async () => {
    const { row, contextId, jobId } = await running();
    const ports = the.ports();
    for (let count = 0; count < 3; count += 1) {
      const input = postedInput({ content: text(LIMITS.joiningBytes - 1_000), delivery: 'steer' });
      const posted = await perform(ports, submitInput(ports, { ...input, contextId }));
      expect(posted).toMatchObject({ kind: 'done', value: { jobId } });
    }
    return { ...row, steers: 3 };
  };

  test('of those that wait to join a job the first is read, and of the others as many as fit', async () => {
    const stored = await readMailbox(db(), await steered());
    expect(stored?.mailbox.steers.map(({ content }) => content?.length ?? null)).toEqual([1, null, null]);
  });

  test('contexts that are claimed together leave out those with large inputs, and read the others', async () => {
    const large = await steered();
    const { contextId } = await the.context();
    const jobId = await the.submit(contextId);
    const small = await the.claimed(contextId);
    const { tooLarge, jobs, steers, workers } = await readParts(db(), placesOf([large, small]), 'shared');
    expect([...tooLarge]).toEqual([large.lease.contextId]);
    expect([...workers.keys()]).toEqual([contextId]);
    expect(jobs.get(contextId)).toMatchObject({ active: null, next: { id: jobId } });
    expect([...jobs.keys(), ...steers.keys()]).toEqual([contextId]);
  });

  test('the next input is read alone, and not with those of other contexts', async () => {
    const { contextId } = await the.context();
    const input = { messageId: ids.next<MessageId>(), content: text(LIMITS.sharedBytes + 1) };
    await the.submit(contextId, { input });
    const row = await the.claimed(contextId);
    expect((await readParts(db(), placesOf([row]), 'shared')).tooLarge).toEqual(new Set([contextId]));
    expect((await readMailbox(db(), row))?.mailbox.next).toMatchObject({ kind: 'input' });
  });
});
