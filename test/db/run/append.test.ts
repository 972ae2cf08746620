// The statement with which runs write.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Append, CallChange, Entry } from '../../../src/core/run/append.ts';
import type { ContextEvent } from '../../../src/core/stream/event.ts';
import { DEFAULT_TENANT, resultOf, type JobId, type MessageId, type ToolCallId } from '../../../src/core/ids.ts';
import type { NewMessage } from '../../../src/core/conversation/message.ts';
import { append } from '../../../src/db/run/append/append.ts';
import { read, type ContextRow } from '../../../src/db/run/contexts.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import { readMailbox } from '../../../src/db/run/mailbox/mailbox.ts';
import { lockForControl, writeStopRequest } from '../../../src/db/run/stop-requests.ts';
import { deleteContext } from '../../../src/db/write/workers/workers.ts';
import { fingerprint, job as someJob } from '../../core/builders.ts';
import { TIMES, given, ids, nothing, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const db = () => the.database.db;
const received: ContextEvent = {
  name: 'StateChanged',
  data: { new_state: 'AwaitingLLMResponse', job_id: null },
};
const event: Entry = { kind: 'event', event: received };
const usage = {
  input_tokens: 7,
  output_tokens: 5,
  cache_read_tokens: 3,
  cache_write_tokens: 2,
  cost_nanos: 11,
};

function message(over: Partial<NewMessage> = {}): Entry {
  return {
    kind: 'message',
    message: {
      id: ids.next<MessageId>(),
      role: 'assistant',
      type: 'text',
      turn: 'a1',
      content: [{ type: 'text', text: 'hello' }],
      jobId: null,
      model: { modelId: 'm', providerId: 'simulated', usage, finishReason: 'stop' },
      ...over,
    },
  };
}

/** A context with one queued input, claimed. */
async function claimed(): Promise<ContextRow & { jobId: JobId; messageId: MessageId }> {
  const { contextId } = await the.context();
  const messageId = ids.next<MessageId>();
  const jobId = await the.submit(contextId, {
    input: { messageId, content: [{ type: 'text', text: 'a\0b' }] },
  });
  return { ...(await the.claimed(contextId)), jobId, messageId };
}

const numbers = (row: ContextRow) =>
  the.rows(`select seq, kind from (
    select seq, 'message' as kind, context_id from messages where seq is not null
    union all select seq, name, context_id from events) n where context_id = '${row.lease.contextId}' order by seq`);

describe('guards', () => {
  test.each<[string, (row: ContextRow) => Partial<Append>]>([
    ['an epoch of the past', ({ lease }) => ({ lease: { ...lease, epoch: lease.epoch - 1 } })],
    ['an epoch of the future', ({ lease }) => ({ lease: { ...lease, epoch: lease.epoch + 1 } })],
    ['another control_seq', (row) => ({ guard: { controlSeq: row.controlSeq + 1, wakeSeq: null } })],
    ['another wake_seq', (row) => ({ guard: { controlSeq: null, wakeSeq: row.wakeSeq + 1 } })],
    ['one of both', (row) => ({ guard: { controlSeq: row.controlSeq, wakeSeq: row.wakeSeq + 1 } })],
  ])('%s writes nothing at all', async (_, wrong) => {
    const row = await claimed();
    const { jobId, messageId } = row;
    const before = await the.row(row.lease.contextId);
    const job = someJob({ id: jobId });
    const outcome = await append(db(), [
      nothing(row.lease, {
        entries: [event, { kind: 'admit', messageId, turn: 'u1' }, message()],
        job: { kind: 'admit', job },
        state: 'AwaitingLLMResponse',
        park: { status: 'idle' },
        ...wrong(row),
      }),
    ]);
    expect(outcome).toEqual([{ kind: 'stale' }]);
    expect(await the.row(row.lease.contextId)).toEqual(before);
    expect(await numbers(row)).toEqual([]);
    expect(await the.rows(`select status from jobs where id = '${jobId}'`)).toEqual([{ status: 'queued' }]);
  });

  test('of a tenant that is suspended, a job goes on but none begins', async () => {
    const row = await claimed();
    const { jobId, messageId, lease } = row;
    const job = someJob({ id: jobId });
    const begin = nothing(lease, {
      entries: [{ kind: 'admit', messageId, turn: 'u1' }],
      job: { kind: 'admit', job },
      state: 'AwaitingLLMResponse',
    });
    const setStatus = (to: string) => the.rows(`update tenants set status = '${to}' where id = ${DEFAULT_TENANT}`);
    await setStatus('suspended');
    const before = await the.row(lease.contextId);
    expect(await append(db(), [begin])).toEqual([{ kind: 'stale' }]);
    expect(await append(db(), [begin], 'pass')).toEqual([{ kind: 'stale' }]);
    expect(await the.row(lease.contextId)).toEqual(before);
    expect(await the.rows(`select status from jobs where id = '${jobId}'`)).toEqual([{ status: 'queued' }]);
    await setStatus('active');
    expect(await append(db(), [begin])).toMatchObject([{ kind: 'committed' }]);
    await setStatus('suspended');
    const step = nothing(lease, {
      entries: [message()],
      job: { kind: 'progress', job },
      state: 'AwaitingLLMResponse',
    });
    expect(await append(db(), [step])).toMatchObject([{ kind: 'committed' }]);
    await setStatus('active');
  });

  test('unchanged counters let it through', async () => {
    const row = await claimed();
    const { controlSeq, wakeSeq } = row;
    const outcome = await append(db(), [nothing(row.lease, { guard: { controlSeq, wakeSeq } })]);
    expect(outcome).toEqual([
      {
        kind: 'committed',
        firstSeq: 1,
        headSeq: 0,
        wakeSeq,
        controlSeq,
        met: [],
        followUp: false,
        at: expect.any(Number),
      },
    ]);
  });

  test('a deleted context is stale', async () => {
    const row = await claimed();
    await the.rows(`delete from contexts where id = '${row.lease.contextId}'`);
    expect(await append(db(), [nothing(row.lease, { entries: [event] })])).toEqual([{ kind: 'stale' }]);
    expect(await numbers(row)).toEqual([]);
  });

  test('counters that others raised meanwhile are returned with the outcome', async () => {
    const row = await claimed();
    await the.submit(row.lease.contextId);
    await lockForControl(db(), row.lease.tenantId, row.lease.contextId, TIMES);
    const [outcome] = await append(db(), [nothing(row.lease)]);
    expect(outcome).toMatchObject({
      kind: 'committed',
      wakeSeq: row.wakeSeq + 1,
      controlSeq: row.controlSeq + 1,
    });
  });
});

describe('numbers', () => {
  test('follow the order of the entries of any kind, without a gap', async () => {
    const row = await claimed();
    const { messageId, jobId } = row;
    const first = await append(db(), [
      nothing(row.lease, {
        entries: [event, { kind: 'admit', messageId, turn: 'u1' }, event],
        job: { kind: 'admit', job: someJob({ id: jobId }) },
      }),
    ]);
    const second = await append(db(), [nothing(row.lease, { entries: [message(), event, message()] })]);
    expect([...first, ...second]).toMatchObject([
      { firstSeq: 1, headSeq: 3 },
      { firstSeq: 4, headSeq: 6 },
    ]);
    expect((await numbers(row)).map(({ kind }) => kind)).toEqual([
      'StateChanged',
      'message',
      'StateChanged',
      'message',
      'StateChanged',
      'message',
    ]);
    expect((await numbers(row)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('of concurrent appends are never the same', async () => {
    const row = await claimed();
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () => append(db(), [nothing(row.lease, { entries: [event, event] })])),
    );
    expect(outcomes.flat().map(({ kind }) => kind)).toEqual(Array.from({ length: 40 }, () => 'committed'));
    expect((await numbers(row)).map(({ seq }) => seq)).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
  });
});

describe('many contexts in one statement', () => {
  test('each gets its own numbers, and stale ones leave the others alone', async () => {
    const rows = await Promise.all(Array.from({ length: 6 }, claimed));
    const outcomes = await append(
      db(),
      rows.map((row, n) =>
        nothing(n % 2 === 0 ? row.lease : { ...row.lease, epoch: 99 }, {
          entries: [event, ...Array.from({ length: n }, () => message())],
          state: 'AwaitingLLMResponse',
        }),
      ),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'committed',
      'stale',
      'committed',
      'stale',
      'committed',
      'stale',
    ]);
    for (const [n, row] of rows.entries()) {
      const expected = n % 2 === 0 ? Array.from({ length: n + 1 }, (_, seq) => seq + 1) : [];
      expect((await numbers(row)).map(({ seq }) => seq)).toEqual(expected);
      expect(await the.row(row.lease.contextId)).toMatchObject({ head_seq: expected.length });
    }
  });

  test('an empty list writes nothing', async () => {
    expect(await append(db(), [])).toEqual([]);
  });
});

describe('the written rows', () => {
  test('an input enters history as it was posted, under its turn', async () => {
    const row = await claimed();
    const { jobId, messageId } = row;
    await append(db(), [
      nothing(row.lease, {
        entries: [{ kind: 'admit', messageId, turn: 'u1' }],
        job: { kind: 'admit', job: someJob({ id: jobId, maxSteps: 3 }) },
        progress: 'none',
      }),
    ]);
    expect(await readHistory(db(), row.lease, 'main')).toEqual([
      {
        id: messageId,
        seq: 1,
        role: 'user',
        type: 'text',
        turn: 'u1',
        content: [{ type: 'text', text: 'a\0b' }],
        jobId,
        model: null,
      },
    ]);
    expect(await the.row(row.lease.contextId)).toMatchObject({
      queued: 0,
      message_count: 1,
      turn_count: 1,
      request_count: 0,
      failed_claims: 1,
    });
    const [stored] = await the.rows(`select * from jobs where id = '${jobId}'`);
    expect(stored).toMatchObject({ status: 'running', turn: 1, attempt: 1, finished_at: null });
    expect(stored?.['started_at']).not.toBeNull();
  });

  test('an answer, its price and its calls', async () => {
    const row = await claimed();
    const { jobId } = row;
    const callId = ids.next<ToolCallId>();
    const messageId = ids.next<MessageId>();
    const call = {
      id: callId,
      messageId,
      jobId,
      ordinal: 0,
      name: 'ma\0il',
      effect: 'once',
      onUnknown: 'tell',
    } as const;
    const answer = message({
      id: messageId,
      type: 'tool_call',
      turn: 'a3',
      content: [{ type: 'tool_use', id: callId, name: 'mail', input: { to: '\ud800' } }],
    });
    await append(db(), [
      nothing(row.lease, {
        entries: [answer],
        calls: [{ kind: 'request', call, wait: null }],
        state: 'ExecutingTools',
      }),
    ]);
    expect(await readHistory(db(), row.lease, 'main')).toMatchObject([
      { content: [{ input: { to: '\ud800' } }], model: { modelId: 'm', usage, finishReason: 'stop' } },
    ]);
    expect(await the.row(row.lease.contextId)).toMatchObject({
      request_count: 1,
      turn_count: 3,
      failed_claims: 0,
      ...usage,
    });
    const calls = async () => (await readMailbox(db(), row))?.mailbox.calls;
    expect(await calls()).toEqual([
      { ...call, name: 'ma\u{FFFD}il', status: 'pending', wait: null, reply: null, approval: null },
    ]);
    await append(db(), [nothing(row.lease, { calls: [{ kind: 'start', id: callId }] })]);
    expect(await calls()).toMatchObject([{ status: 'started' }]);
    expect(await the.rows(`select started_epoch from tool_calls where id = '${callId}'`)).toEqual([
      { started_epoch: row.lease.epoch },
    ]);
    const close = (status: 'unknown' | 'failed'): CallChange => ({
      kind: 'close',
      id: callId,
      status,
      execution: { beganAt: null, outcome: status },
    });
    await append(db(), [nothing(row.lease, { calls: [close('unknown')] })]);
    expect(await calls()).toEqual([]);
    await append(db(), [nothing(row.lease, { calls: [close('failed')] })]);
    expect(await the.rows(`select status from tool_calls where id = '${callId}'`)).toEqual([{ status: 'unknown' }]);
    const executions = `select number, epoch, idempotency_key = tool_call_id::text as keyed, outcome,
      ended_at is not null as ended from tool_executions where tool_call_id = '${callId}'`;
    expect(await the.rows(executions)).toEqual([
      { number: 1, epoch: row.lease.epoch, keyed: true, outcome: 'unknown', ended: true },
    ]);
  });

  test('the start time of a state is new at every state event, even if the state ends where it began', async () => {
    const row = await claimed();
    const since = async () =>
      the.rows(
        `select state_since > now() - interval '1 hour' as renewed from contexts where id = '${row.lease.contextId}'`,
      );
    await the.rows(
      `update contexts set state = 'AwaitingLLMResponse', state_since = now() - interval '2 hours' where id = '${row.lease.contextId}'`,
    );
    await append(db(), [nothing(row.lease, { state: 'AwaitingLLMResponse' })]);
    expect(await since()).toEqual([{ renewed: false }]);
    await append(db(), [nothing(row.lease, { state: 'AwaitingLLMResponse', entries: [event] })]);
    expect(await since()).toEqual([{ renewed: true }]);
  });

  test('a call that ends with the answer that asks for it has no rows of its own: it is stored with its result', async () => {
    const row = await claimed();
    const callId = ids.next<ToolCallId>();
    const call = {
      id: callId,
      messageId: ids.next<MessageId>(),
      jobId: row.jobId,
      ordinal: 0,
      name: 'look',
      effect: 'none',
      onUnknown: 'tell',
    } as const;
    await append(db(), [
      nothing(row.lease, {
        entries: [
          message({ id: call.messageId, type: 'tool_call' }),
          message({ id: resultOf(callId), role: 'tool', type: 'tool_result', model: null }),
        ],
        calls: [
          { kind: 'request', call, wait: null },
          {
            kind: 'close',
            id: callId,
            status: 'failed',
            execution: { beganAt: Date.UTC(2024, 1, 1), outcome: 'failed' },
          },
        ],
      }),
    ]);
    expect((await readMailbox(db(), row))?.mailbox.calls).toEqual([]);
    expect(
      await the.rows(
        `select status, finished_at > created_at as took, extract(year from created_at)::int as began, started_at, asked_at
          from calls where id = '${callId}'`,
      ),
    ).toEqual([{ status: 'failed', took: true, began: 2024, started_at: null, asked_at: null }]);
    expect(
      await the.rows(
        `select number, outcome, ended_at is not null as ended from executions where tool_call_id = '${callId}'`,
      ),
    ).toEqual([{ number: 1, outcome: 'failed', ended: true }]);
    expect(await the.rows(`select id from tool_calls where id = '${callId}'`)).toEqual([]);
    expect(await the.rows(`select number from tool_executions where tool_call_id = '${callId}'`)).toEqual([]);
  });

  test.each<[Append['park'], object]>([
    [null, { scheduling_status: 'running', lease_owner: expect.any(String), next_check_at: null }],
    [{ status: 'idle' }, { scheduling_status: 'idle', lease_owner: null, next_check_at: null }],
    [{ status: 'runnable' }, { scheduling_status: 'runnable', lease_owner: null, next_check_at: expect.anything() }],
    [
      { status: 'waiting', until: Date.UTC(2040, 1, 1) },
      { scheduling_status: 'waiting', lease_owner: null, next_check_at: new Date(Date.UTC(2040, 1, 1)) },
    ],
  ])('releasing as %j', async (park, columns) => {
    const row = await claimed();
    await append(db(), [nothing(row.lease, { park })]);
    const stored = await the.row(row.lease.contextId);
    expect({ ...stored, next_check_at: instant(stored['next_check_at']) }).toMatchObject(columns);
    expect(stored['lease_epoch']).toBe(row.lease.epoch);
  });

  test('a control signal outlasts an append, and ends with the job', async () => {
    const row = await claimed();
    const { jobId, messageId } = row;
    const job = someJob({ id: jobId });
    await append(db(), [
      nothing(row.lease, {
        entries: [{ kind: 'admit', messageId, turn: 'u1' }],
        job: { kind: 'admit', job },
      }),
    ]);
    await writeStopRequest(db(), DEFAULT_TENANT, jobId, {
      request: { kind: 'cancel' },
      reason: 'enough',
      by: null,
      graceMs: 60_000,
    });
    await append(db(), [nothing(row.lease, { entries: [message()] })]);
    expect((await the.row(row.lease.contextId))['next_check_at']).not.toBeNull();
    const withRequest = {
      ...job,
      stopRequest: (await readMailbox(db(), row))?.mailbox.job?.stopRequest ?? null,
    };
    await append(db(), [
      nothing(row.lease, {
        job: { kind: 'settle', job: withRequest, outcome: { status: 'cancelled', reason: null } },
      }),
    ]);
    expect(await the.row(row.lease.contextId)).toMatchObject({
      next_check_at: null,
      scheduling_status: 'running',
    });
    const [ended] = await the.rows(`select * from jobs where id = '${jobId}'`);
    expect(ended).toMatchObject({
      status: 'cancelled',
      stop_kind: 'cancel',
      stop_reason: 'enough',
      error: null,
    });
    expect(ended?.['stopped_at']).not.toBeNull();
  });

  test('a job that ended is not changed again', async () => {
    const row = await claimed();
    const job = someJob({ id: row.jobId });
    const settle = (status: 'completed' | 'cancelled'): Append =>
      nothing(row.lease, {
        job: {
          kind: 'settle',
          job,
          outcome: status === 'completed' ? { status, outputId: null } : { status, reason: null },
        },
      });
    await append(db(), [settle('completed')]);
    const [before] = await the.rows(`select * from jobs where id = '${row.jobId}'`);
    await append(db(), [settle('cancelled')]);
    expect(await the.rows(`select * from jobs where id = '${row.jobId}'`)).toEqual([before]);
    expect(before).toMatchObject({ status: 'completed', stopped_at: null });
  });

  test('a failure is kept, cleared or set on the worker', async () => {
    const row = await claimed();
    const failure = async (change: Append['failure']) => {
      await append(db(), [nothing(row.lease, { failure: change })]);
      return (await the.row(row.lease.contextId))['last_failure'];
    };
    const failed = { code: 'provider_auth', message: 'k\0', jobId: row.jobId } as const;
    const stored = { code: 'provider_auth', message: 'k\0', job_id: row.jobId, at: expect.any(String) };
    expect(await failure(failed)).toEqual(stored);
    expect(await failure('keep')).toEqual(stored);
    expect(await failure('clear')).toBeNull();
  });

  test('the start time of a state changes only with the state', async () => {
    const row = await claimed();
    const since = async (state: Append['state']) => {
      await append(db(), [nothing(row.lease, { state })]);
      return (await the.row(row.lease.contextId))['state_since'];
    };
    await since('AwaitingLLMResponse');
    // Two times within one millisecond would look the same.
    await the.rows(
      `update contexts set state_since = state_since - interval '1 hour' where id = '${row.lease.contextId}'`,
    );
    const first = (await the.row(row.lease.contextId))['state_since'];
    expect(await since('AwaitingLLMResponse')).toEqual(first);
    expect(await since('TransientFailure')).not.toEqual(first);
  });
});

function instant(value: unknown): unknown {
  return typeof value === 'string' ? new Date(value) : value;
}

describe('the timeline', () => {
  const calledAt = Date.parse('2026-01-02T03:04:05.678Z');

  test('an answer carries the time of its request, and no other entry of the append does', async () => {
    const row = await claimed();
    const answer = message();
    if (answer.kind !== 'message') throw new Error('no message');
    const modelCall = {
      kind: 'answered',
      messageId: answer.message.id,
      attempt: 3,
      calledAt,
      firstByteAt: calledAt + 7,
      throttled: { since: calledAt - 9, reason: 'rate_limited' },
      prompt: fingerprint({ upto: 3 }),
    } as const;
    await append(db(), [nothing(row.lease, { entries: [answer, message()], modelCall })]);
    expect(
      await the.rows(
        `select attempt, to_json(called_at at time zone 'utc')::text as called, first_byte_at - called_at = interval '7 ms' as later,
          throttled, prompt from messages where context_id = '${row.lease.contextId}' and seq is not null order by seq`,
      ),
    ).toEqual([
      {
        attempt: 3,
        called: '"2026-01-02T03:04:05.678"',
        later: true,
        throttled: modelCall.throttled,
        prompt: modelCall.prompt,
      },
      { attempt: null, called: null, later: null, throttled: null, prompt: null },
    ]);
  });

  test('a failed call has a row, once, which is deleted with its context', async () => {
    const row = await claimed();
    const error = { code: 'stream_interrupted', message: 'cut\0off' } as const;
    const modelCall = {
      kind: 'failed',
      jobId: row.jobId,
      attempt: 2,
      model: 'anthropic/c',
      error,
      retryAt: null,
      calledAt,
      firstByteAt: null,
      throttled: { since: calledAt - 9, reason: 'overloaded' },
      prompt: fingerprint({ before: null }),
    } as const;
    const { contextId, epoch } = row.lease;
    await append(db(), [nothing({ ...row.lease, epoch: epoch - 1 }, { modelCall })]);
    expect(await the.rows(`select 1 from failed_calls where context_id = '${contextId}'`)).toEqual([]);
    for (let n = 0; n < 2; n += 1) await append(db(), [nothing(row.lease, { modelCall })]);
    expect(
      await the.rows(
        `select job_id, attempt, model, error, first_byte_at, retry_at, throttled, prompt from failed_calls where context_id = '${contextId}'`,
      ),
    ).toEqual([
      {
        job_id: row.jobId,
        attempt: 2,
        model: 'anthropic/c',
        error,
        first_byte_at: null,
        retry_at: null,
        throttled: modelCall.throttled,
        prompt: modelCall.prompt,
      },
    ]);
    await the.database.transaction((tx) => deleteContext(tx, row.lease.tenantId, contextId));
    expect(await the.rows(`select 1 from failed_calls where context_id = '${contextId}'`)).toEqual([]);
  });

  test('a job knows the range of numbers of its messages', async () => {
    const row = await claimed();
    const job = someJob({ id: row.jobId });
    const numbersOf = () => the.rows(`select first_seq, last_seq from jobs where id = '${row.jobId}'`);
    await append(db(), [nothing(row.lease, { entries: [event] })]);
    await append(db(), [nothing(row.lease, { entries: [event, event], job: { kind: 'admit', job } })]);
    await append(db(), [nothing(row.lease, { entries: [message()], job: { kind: 'progress', job } })]);
    expect(await numbersOf()).toEqual([{ first_seq: 1, last_seq: null }]);
    const outcome = { status: 'cancelled', reason: null } as const;
    await append(db(), [nothing(row.lease, { entries: [event], job: { kind: 'settle', job, outcome } })]);
    expect(await numbersOf()).toEqual([{ first_seq: 1, last_seq: 5 }]);
  });
});

test('a row locked by another transaction is skipped where the append does not wait, and the others are written', async () => {
  const locked = await claimed();
  const free = await claimed();
  const appends = [locked, free].map(({ lease }) => nothing(lease, { entries: [event] }));
  await the.database.transaction(async (tx) => {
    await read(tx, locked.lease.contextId, 'lock');
    expect(await append(db(), appends, 'pass')).toMatchObject([{ kind: 'stale' }, { kind: 'committed' }]);
  });
  expect(await numbers(locked)).toEqual([]);
  expect(await append(db(), appends.slice(0, 1), 'pass')).toMatchObject([{ kind: 'committed' }]);
});
