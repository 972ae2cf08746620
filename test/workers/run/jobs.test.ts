import { afterEach, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/ids.ts';
import {
  aborted,
  fails,
  result,
  says,
  startFleet,
  transcript,
  type Fleet,
  type FleetOptions,
} from '../worker-fleet.ts';

let fleet: Fleet | null = null;
const start = async (options: FleetOptions): Promise<Fleet> => (fleet = await startFleet(options));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

/** Every law of an idle context. */
async function expectSound(of: Fleet, contextId: ContextId): Promise<void> {
  await of.until(async () => (await of.query(`select 1 from contexts where scheduling_status <> 'idle'`)).length === 0);
  const numbers = await of.query(`
    select seq from messages where context_id = '${contextId}' and seq is not null
    union all select seq from events where context_id = '${contextId}' order by seq`);
  const [context] = await of.query(`select * from contexts where id = '${contextId}'`);
  expect(numbers.map((row) => row['seq'])).toEqual(numbers.map((_, index) => index + 1));
  expect(context?.['head_seq']).toBe(numbers.length);
  expect(context).toMatchObject({
    scheduling_status: 'idle',
    lease_owner: null,
    next_check_at: null,
    queued: 0,
  });
  expect(await of.query(`select 1 from tool_calls where context_id = '${contextId}' and finished_at is null`)).toEqual(
    [],
  );
}

test('an input becomes a job that ends with the answer', async () => {
  const of = await start({ model: () => says('hello') });
  const { contextId } = await of.createContext();
  const { jobId, messageId } = await of.post(contextId, 'hi');
  const job = await of.ended(jobId);
  expect(job).toMatchObject({
    status: 'completed',
    attempt: 1,
    steps: 1,
    input_tokens: 10,
    output_tokens: 5,
  });
  const [input, answer] = await of.history(contextId);
  expect(input).toMatchObject({ id: messageId, turn: 'u1', role: 'user' });
  expect(answer).toMatchObject({ id: job['output_message_id'], turn: 'a1', role: 'assistant' });
  await expectSound(of, contextId);
});

test('tools run in parallel and their results answer the calls', async () => {
  let turn = 0;
  const of = await start({
    model: () => {
      turn += 1;
      return turn === 1
        ? says(
            'let me see',
            { name: 'slow', input: { n: 1 } },
            { name: 'quick', input: { n: 2 } },
            { name: 'mail', input: {} },
          )
        : says('done');
    },
    tools: {
      slow: {
        execute: async (call) => (
          await new Promise((r) => setTimeout(r, 100)),
          result(`slow ${JSON.stringify(call.input)}`)
        ),
      },
      quick: { execute: () => result('quick') },
      mail: { effect: 'once', execute: () => result('sent') },
    },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', steps: 2 });
  const lines = transcript(await of.history(contextId));
  expect(lines[0]).toBe('u1 user: go');
  expect(lines[1]).toBe('a1 assistant: let me see →slow →quick →mail');
  expect(lines.slice(2, 5).sort()).toEqual(['a1 tool: ←quick', 'a1 tool: ←sent', 'a1 tool: ←slow {"n":1}']);
  expect(lines[5]).toBe('a1 assistant: done');
  await expectSound(of, contextId);
});

test('queued inputs are answered in order', async () => {
  const of = await start({
    model: (request) => says(`${request.messages.filter((m) => m.role === 'user').length}`),
  });
  const { contextId } = await of.createContext();
  const posted = [];
  for (const text of ['one', 'two', 'three', 'four']) posted.push(await of.post(contextId, text));
  for (const { jobId } of posted) expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(transcript(await of.history(contextId))).toEqual([
    'u1 user: one',
    'a1 assistant: 1',
    'u2 user: two',
    'a2 assistant: 2',
    'u3 user: three',
    'a3 assistant: 3',
    'u4 user: four',
    'a4 assistant: 4',
  ]);
  await expectSound(of, contextId);
});

test('without any queue the sweep finds the work', async () => {
  const of = await start({ model: () => says('found'), queue: 'deaf' });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'psst');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
});

test('a failed model call is made again, and a permanent failure fails the job without harm to the next', async () => {
  const script = [
    fails({ class: 'overloaded', message: 'busy', retryAfterMs: 10 }),
    fails({ class: 'stream_interrupted', message: 'cut', retryAfterMs: null }),
    says('at last'),
    fails({ class: 'auth', message: 'bad key', retryAfterMs: null }),
    says('well again'),
  ];
  const of = await start({ model: () => script.shift() ?? says('?') });
  const { contextId } = await of.createContext();
  const first = await of.post(contextId, 'a');
  expect(await of.ended(first.jobId)).toMatchObject({ status: 'completed', attempt: 3, failures: 0 });
  const second = await of.post(contextId, 'b');
  expect(await of.ended(second.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'provider_auth', message: 'bad key' },
  });
  const [failed] = await of.query(`select state, last_failure from contexts where id = '${contextId}'`);
  expect(failed).toMatchObject({
    state: 'PermanentFailure',
    last_failure: { code: 'provider_auth', job_id: second.jobId },
  });
  const third = await of.post(contextId, 'c');
  expect(await of.ended(third.jobId)).toMatchObject({ status: 'completed' });
  await expectSound(of, contextId);
  const [well] = await of.query(`select state, last_failure from contexts where id = '${contextId}'`);
  expect(well).toEqual({ state: 'Idle', last_failure: null });
});

test('a long Retry-After parks the job without a slot', async () => {
  // A wait shorter than a throttle of the key: it is cut short below.
  const script = [fails({ class: 'server_error', message: 'slow', retryAfterMs: 3_600_000 }), says('ok')];
  const of = await start({ model: () => script.shift() ?? says('?') });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'a');
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  await of.atRest();
  const [context] = await of.query(
    `select scheduling_status, state, lease_owner from contexts where id = '${contextId}'`,
  );
  expect(context).toEqual({ scheduling_status: 'waiting', state: 'TransientFailure', lease_owner: null });
  await of.query(`update jobs set retry_at = now() - interval '1 second' where id = '${jobId}'`);
  await of.query(`update contexts set next_check_at = now() - interval '1 second' where id = '${contextId}'`);
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', attempt: 2 });
  await expectSound(of, contextId);
});

test('a job without an input: retry after a failure, and coded errors where no answer is owed', async () => {
  const script = [fails({ class: 'refused', message: 'no', retryAfterMs: null }), says('yes')];
  const of = await start({ model: () => script.shift() ?? says('?') });
  const { contextId } = await of.createContext();
  const none = await of.retry(contextId);
  expect(await of.ended(none.jobId)).toMatchObject({ status: 'failed', error: { code: 'empty_context' } });
  const refused = await of.post(contextId, 'please');
  expect(await of.ended(refused.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'provider_refused' },
  });
  const again = await of.retry(contextId);
  expect(await of.ended(again.jobId)).toMatchObject({ status: 'completed' });
  const extra = await of.retry(contextId);
  expect(await of.ended(extra.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'nothing_to_answer' },
  });
  expect(transcript(await of.history(contextId))).toEqual(['u1 user: please', 'a1 assistant: yes']);
  await expectSound(of, contextId);
});

test('cancel closes the model call, withdraws queued inputs, and leaves a context that works', async () => {
  let closed = 0;
  let calls = 0;
  const of = await start({
    model: async (_request, signal) => {
      calls += 1;
      if (calls > 1) return says('next');
      await aborted(signal);
      closed += 1;
      return { kind: 'aborted' };
    },
  });
  const { contextId } = await of.createContext();
  const running = await of.post(contextId, 'long');
  const queued = await of.post(contextId, 'withdrawn');
  await of.until(() => calls === 1);
  await of.cancel(queued.jobId);
  expect(await of.job(queued.jobId)).toMatchObject({ status: 'cancelled' });
  await of.cancel(running.jobId);
  const job = await of.ended(running.jobId);
  expect(job).toMatchObject({ status: 'cancelled', stop_kind: 'cancel' });
  expect(job['stop_delivered_at']).not.toBeNull();
  expect(job['stopped_at']).not.toBeNull();
  expect(closed).toBe(1);
  const next = await of.post(contextId, 'more');
  expect(await of.ended(next.jobId)).toMatchObject({ status: 'completed' });
  expect(transcript(await of.history(contextId))).toEqual(['u1 user: long', 'u2 user: more', 'a2 assistant: next']);
  await expectSound(of, contextId);
});

test('cancel in the middle of tools answers every call by rule', async () => {
  const of = await start({
    model: () => says('', { name: 'forever', input: {} }, { name: 'mail', input: {} }),
    tools: {
      forever: { execute: () => new Promise(() => undefined) },
      mail: { effect: 'once', execute: () => new Promise(() => undefined) },
    },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'go');
  await of.until(async () => (await of.query(`select 1 from tool_calls where status = 'started'`)).length === 1);
  await of.cancel(jobId);
  await of.ended(jobId);
  const lines = transcript(await of.history(contextId));
  expect(lines).toHaveLength(4);
  expect(lines.filter((line) => /outcome unknown/.test(line))).toHaveLength(1);
  await expectSound(of, contextId);
});

test('cancel of a waiting job is settled at once, without a run', async () => {
  const of = await start({
    model: () => fails({ class: 'rate_limited', message: 'slow', retryAfterMs: 60_000 }),
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'a');
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  await of.cancel(jobId);
  expect(await of.job(jobId)).toMatchObject({ status: 'cancelled' });
  await expectSound(of, contextId);
});

test('limits end a job as incomplete', async () => {
  const of = await start({
    model: (_request, signal) =>
      new Promise((resolve) => {
        setTimeout(() => resolve(says('', { name: 'again', input: {} })), 50);
        void aborted(signal).then(() => resolve({ kind: 'aborted' }));
      }),
    tools: { again: { execute: () => result('and again') } },
  });
  const { contextId } = await of.createContext();
  const steps = await of.post(contextId, 'a', { maxSteps: 2 });
  expect(await of.ended(steps.jobId)).toMatchObject({
    status: 'incomplete',
    steps: 2,
    error: { code: 'max_steps' },
  });
  const late = await of.post(contextId, 'b', { deadlineMs: 200 });
  expect(await of.ended(late.jobId)).toMatchObject({ status: 'incomplete', error: { code: 'deadline' } });
  await expectSound(of, contextId);
});

test('a draining process releases its contexts and another one continues', async () => {
  let calls = 0;
  const of = await start({
    processes: 1,
    model: async (_request, signal) => {
      calls += 1;
      if (calls > 1) return says('elsewhere');
      await aborted(signal);
      return { kind: 'aborted' };
    },
    times: { drainMs: 1_000 },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'a');
  // The model is called while its job begins: a process that drains before the commit counts no attempt.
  await of.until(async () => calls === 1 && (await of.job(jobId))['status'] === 'running');
  const second = await of.startProcess();
  await of.processes[0]?.drain();
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', attempt: 2 });
  expect(second.running()).toBeLessThanOrEqual(1);
  await expectSound(of, contextId);
});

test('a process that drains between two steps releases a job whose model call had not begun: no new attempt', async () => {
  let steps = 0;
  let drained: Promise<void> = Promise.resolve();
  const of = await start({
    processes: 1,
    model: () => ((steps += 1) === 1 ? says('', { name: 'last', input: {} }) : says('elsewhere')),
    tools: {
      last: {
        execute: () => {
          drained = of.processes[0]?.drain() ?? drained;
          return result('done');
        },
      },
    },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'a');
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  await drained;
  expect(steps).toBe(1);
  await of.startProcess();
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', attempt: 1, steps: 2 });
  await expectSound(of, contextId);
});

test('an answer that was given in time counts, where an input that arrived meanwhile makes its append stale', async () => {
  const of: Fleet = await start({
    model: async () => {
      if (posted) return says('next');
      posted = true;
      await of.post(contextId, 'b');
      // Every read after this answer is too late.
      await of.query(`update jobs set deadline = clock_timestamp() - interval '1 second' where deadline is not null`);
      return says('in time');
    },
  });
  let posted = false;
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'a', { deadlineMs: 60_000 });
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', error: null });
  await expectSound(of, contextId);
});
