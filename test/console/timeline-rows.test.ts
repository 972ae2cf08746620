// A job as the rows of its timeline.
import { expect, test } from 'vitest';
import type { Job, JobStep } from '../../src/client/index.ts';
import { rowsOf } from '../../web/src/pages/job/timeline/rows/rows.ts';
import { at, job, step } from './rig/steps.ts';

const call = (from: number): JobStep =>
  step({ started_at: at(from), first_token_at: at(from + 10), ended_at: at(from + 20) });

const queueOf = (started: number | null, steps: JobStep[]) => rowsOf(job(started), steps)[0];

test('a queue ends where the job is started, or where a model is called before that is stored', () => {
  expect(queueOf(1_030, [call(1_040)])).toMatchObject({ kind: 'queue', from: 1_000, to: 1_030 });
  expect(queueOf(1_030, [call(1_020)])).toMatchObject({ kind: 'queue', to: 1_020 });
  expect(queueOf(null, [])).toMatchObject({ kind: 'queue', status: 'queued', to: null });
});

test('a job is delayed until it joins the queue; one that ended before was never queued', () => {
  const rowOf = (started: number | null, changed: Partial<Job>) =>
    rowsOf(job(started, { starts_at: at(5_000), ...changed }), [])[0];
  expect(rowOf(null, { status: 'delayed' })).toMatchObject({
    name: 'Delay',
    status: 'delayed',
    from: 1_000,
    to: null,
    stretches: [{ kind: 'delay', from: 1_000, to: null }],
  });
  expect(rowOf(null, { status: 'cancelled', finished_at: at(3_000) })).toMatchObject({
    name: 'Delay',
    stretches: [{ kind: 'delay', from: 1_000, to: 3_000 }],
  });
  expect(rowOf(null, {})).toMatchObject({ name: 'Queue', stretches: [{ kind: 'queue', from: 5_000, to: null }] });
  expect(rowOf(null, { status: 'cancelled', finished_at: at(6_000) })).toMatchObject({
    name: 'Queue',
    stretches: [{ kind: 'queue', from: 5_000, to: 6_000 }],
  });
  expect(rowOf(5_040, {})).toMatchObject({ name: 'Queue', stretches: [{ kind: 'queue', from: 5_000, to: 5_040 }] });
});

const failed = (from: number, to: number, code: string, attempt: number): JobStep =>
  step({
    status: 'failed',
    attempt,
    started_at: at(from),
    first_token_at: null,
    ended_at: at(to),
    message_id: null,
    error: { code: code as 'provider_overloaded', message: `it is ${code}` },
  });
const wait = (name: 'retry' | 'throttle', from: number, to: number | null, changed: Partial<JobStep> = {}): JobStep =>
  step({
    kind: 'wait',
    name,
    n: null,
    started_at: at(from),
    first_token_at: null,
    ended_at: to === null ? null : at(to),
    ...changed,
  });
const tool = (id: string, changed: Partial<JobStep>): JobStep =>
  step({
    kind: 'tool',
    name: 'look',
    tool_call_id: id,
    n: null,
    attempt: null,
    first_token_at: null,
    executions: [],
    ...changed,
  });

/** Without the row before the first step. */
const rows = (steps: JobStep[], firstTokenAt: number | null = null) => rowsOf(job(1_000), steps, firstTokenAt).slice(1);
const brief = (steps: JobStep[], firstTokenAt: number | null = null): string[] =>
  rows(steps, firstTokenAt).map(
    ({ name, status, stretches }) =>
      `${name} ${status}: ${stretches.map(({ kind, from, to }) => `${kind} ${from}-${to ?? ''}`).join(', ')}`,
  );

test('the attempts of a call are one row: those that failed are red, with their error, and refusals are throttled time', () => {
  const steps = [
    failed(1_000, 1_010, 'stream_interrupted', 1),
    wait('retry', 1_010, 1_100, { attempt: 1 }),
    failed(1_100, 1_105, 'provider_rate_limited', 2),
    wait('retry', 1_105, 4_000, { attempt: 2 }),
    wait('throttle', 4_000, 5_000, { attempt: 3, reason: 'overloaded' }),
    step({ attempt: 3, started_at: at(5_000), first_token_at: at(5_100), ended_at: at(6_000) }),
    step({ attempt: 3, started_at: at(6_000), first_token_at: at(6_100), ended_at: at(7_000) }),
  ];
  expect(brief(steps)).toEqual([
    'simulated/test completed: failed 1000-1010, retry 1010-1100, failed 1100-1105, throttle 1105-4000, throttle 4000-5000, first 5000-5100, model 5100-6000',
    'simulated/test completed: first 6000-6100, model 6100-7000',
  ]);
  const [row] = rows(steps);
  expect(row?.stretches.map(({ note }) => note)).toEqual([
    'it is stream_interrupted',
    undefined,
    'it is provider_rate_limited',
    'the provider limits the rate of calls',
    'the provider is overloaded',
    undefined,
    undefined,
  ]);
  expect(row).toMatchObject({ failed: [{ attempt: 1 }, { attempt: 2 }], step: { attempt: 3 } });
});

test('a wait in progress ends the row; one before the first attempt is a row of its own', () => {
  const refused = [failed(1_000, 1_010, 'provider_rate_limited', 1), wait('retry', 1_010, null, { status: 'waiting' })];
  expect(brief(refused)).toEqual(['simulated/test waiting: failed 1000-1010, throttle 1010-']);
  const others = [wait('throttle', 1_000, null, { status: 'waiting', reason: 'rate_limited' })];
  expect(brief(others)).toEqual(['Throttled waiting: throttle 1000-']);
});

test('the first token of a call in progress is shown when it comes, and not before the call', () => {
  const calling = step({ status: 'running', started_at: at(2_000), first_token_at: null, ended_at: null });
  expect(brief([call(1_000), calling])[1]).toBe('simulated/test running: first 2000-');
  expect(brief([call(1_000), calling], 2_500)).toEqual([
    'simulated/test completed: first 1000-1010, model 1010-1020',
    'simulated/test running: first 2000-2500, model 2500-',
  ]);
  expect(brief([calling], 1_990)).toEqual(['simulated/test running: first 2000-2000, model 2000-']);
});

test('a tool that failed is red, and so is an execution that a crash cut off; only the others are executions', () => {
  const execution = (number: number, from: number, to: number | null) => ({
    number,
    epoch: 1,
    idempotency_key: 'k',
    began_at: at(from),
    ended_at: to === null ? null : at(to),
    outcome: null,
  });
  expect(
    brief([
      tool('a', {
        status: 'failed',
        started_at: at(1_000),
        ended_at: at(1_200),
        executions: [execution(1, 1_000, 1_200)],
      }),
      tool('b', {
        started_at: at(1_000),
        ended_at: at(1_900),
        executions: [execution(1, 1_000, null), execution(2, 1_500, 1_900)],
      }),
      tool('c', { status: 'failed', started_at: at(1_000), ended_at: at(1_200) }),
    ]),
  ).toEqual([
    'look failed: failed 1000-1200',
    'look completed: failed 1000-1500, tool 1500-1900',
    'look failed: failed 1000-1200',
  ]);
});

test('after a wait that gave the slot back, what follows has waited for a slot', () => {
  const asked = { for: 'approval' as const, asked_at: at(1_020), expires_at: null, ended_at: at(3_000) };
  const execution = {
    number: 1,
    epoch: 1,
    idempotency_key: 'k',
    began_at: at(3_200),
    ended_at: at(3_300),
    outcome: null,
  };
  const answer = { ...asked, for: 'answer' as const };
  expect(
    brief([
      call(1_000),
      tool('a', { started_at: at(1_020), ended_at: at(3_300), waits: [asked], executions: [execution] }),
      call(3_300),
      tool('b', { started_at: at(1_020), ended_at: at(9_000), waits: [{ ...answer, ended_at: at(9_000) }] }),
      call(9_500),
    ]),
  ).toEqual([
    'simulated/test completed: first 1000-1010, model 1010-1020',
    'look completed: approval 1020-3000, queue 3000-3200, tool 3200-3300',
    'simulated/test completed: first 3300-3310, model 3310-3320',
    'look completed: answer 1020-9000',
    'simulated/test completed: queue 9000-9500, first 9500-9510, model 9510-9520',
  ]);
});
