// Transitions: what each decision writes, under which guards, and that none of them leaves the table of states.
import { describe, expect, test } from 'vitest';
import type { Append } from '../../src/core/run/append.ts';
import { decide } from '../../src/core/decide.ts';
import { resultOf, type MessageId, type ToolCallId } from '../../src/core/ids.ts';
import type { JobOutcome } from '../../src/core/run/job.ts';
import { admit, resume } from '../../src/core/transitions/admit.ts';
import { answer, answerMessage, answered, completed } from '../../src/core/transitions/answer.ts';
import { stateChange } from '../../src/core/transitions/base.ts';
import { open } from '../../src/core/transitions/open.ts';
import { delay, releaseUntil, rest, sleep } from '../../src/core/transitions/park.ts';
import { settle } from '../../src/core/transitions/settle.ts';
import { closeCalls, closedByRule, ended, startCall } from '../../src/core/transitions/tools.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import { FLEETING, STATES, mayFollow, type DurableState, type State } from '../../src/core/run/state.ts';
import {
  JOB,
  NOW,
  assistantMessage,
  call,
  cancelRequest,
  given,
  id,
  job,
  queuedInput,
  queuedRetry,
  running,
  settings,
  snapshot,
  tool,
  toolUse,
  userMessage,
} from './builders.ts';

const next = queuedInput();
const error = { code: 'provider_auth', message: 'bad key' } as const;
const overloaded = { code: 'provider_overloaded', message: 'busy' } as const;
const OUTCOMES: JobOutcome[] = [
  { status: 'completed', outputId: id(3) },
  { status: 'incomplete', error: { code: 'max_steps', message: 'm' } },
  { status: 'failed', error },
  { status: 'cancelled', reason: null },
];
const DURABLE = STATES.filter((state): state is DurableState => !(FLEETING as readonly State[]).includes(state));
const resting: readonly DurableState[] = ['Idle', 'PermanentFailure', 'Stopped'];
const inJob = DURABLE.filter((state) => !resting.includes(state) && state !== 'ProcessingUserMessage');
const messageId = id<MessageId>(30);

/** The states an append passes through are those of its events, each allowed after the one before. */
function expectLawful(before: Snapshot, append: Append): void {
  let state: State = before.state;
  for (const entry of append.entries) {
    if (entry.kind !== 'event' || entry.event.name !== 'StateChanged') continue;
    expect(mayFollow(state, entry.event.data.new_state)).toBe(true);
    expect(entry.event.data.new_state).not.toBe(state);
    state = entry.event.data.new_state;
  }
  expect(append.state).toBe(state);
  expect(FLEETING).not.toContain(append.state);
  expect(append.lease).toEqual(before.lease);
  const results = append.entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'tool' ? [entry.message] : [],
  );
  const closed = append.calls.flatMap((change) => (change.kind === 'close' ? [change.id] : []));
  expect(results.map(({ id: resultId, content }) => [resultId, content])).toEqual(
    closed.map((callId) => [resultOf(callId), [expect.objectContaining({ tool_use_id: callId })]]),
  );
}

describe('every transition follows the table of states', () => {
  test.each(resting)('starts and ends between jobs, from %s', (state) => {
    for (const stopped of [true, false]) {
      const before = snapshot({ state, stopped, next, queued: 1 });
      for (const append of [admit(before, next), admit(before, queuedRetry()), rest(before)]) {
        expectLawful(before, append);
      }
    }
  });

  test.each(inJob)('every end of a job, from %s', (state) => {
    for (const stopped of [true, false]) {
      for (const outcome of OUTCOMES) {
        const before = running({ state, stopped, calls: [call()] });
        expectLawful(before, settle(before, job(), outcome));
        expectLawful(before, sleep(before, job(), NOW));
        expectLawful(before, releaseUntil(before, null));
      }
    }
  });

  test.each<DurableState>(['AwaitingLLMResponse', 'TransientFailure'])('a model call, from %s', (state) => {
    const before = running({ state });
    const asks = given({ content: [toolUse(50)], finishReason: 'tool_use' });
    for (const append of [
      resume(before, job(), 'AwaitingLLMResponse'),
      answer(before, { job: job(), settings: settings() }, { ...given({ finishReason: 'pause' }), id: messageId }, NOW),
      answer(before, { job: job(), settings: settings() }, { ...asks, id: messageId }, NOW),
      delay(before, job(), overloaded, NOW + 1),
    ]) {
      expectLawful(before, append);
    }
  });

  test.each<DurableState>(['ExecutingTools', 'AwaitingToolApproval', 'AwaitingInput', 'AwaitingWorkers'])(
    'tool calls, from %s',
    (state) => {
      const calls = [call(), call({ id: id(51), ordinal: 1, effect: 'once' })];
      const before = running({ state, calls });
      const done = calls.map((one) => ended(one, { kind: 'result', content: 'ok', is_error: false }));
      for (const append of [
        resume(before, job(), 'ExecutingTools'),
        startCall(before, call({ effect: 'once' })),
        closeCalls(before, job(), done.slice(0, 1)),
        closeCalls(before, job(), done),
      ]) {
        expectLawful(before, append);
      }
    },
  );

  test('a change that the table forbids is a bug, not a row', () => {
    expect(() => stateChange('Idle', 'ExecutingTools', null)).toThrow(/from Idle to ExecutingTools is not allowed/);
  });
});

describe('guards', () => {
  const before = running();
  const { controlSeq, wakeSeq } = before;
  const outcome: JobOutcome = { status: 'completed', outputId: null };
  test.each<[string, Append, Append['guard']]>([
    ['admit: a withdrawn input must not be admitted', admit(snapshot(), next), { controlSeq, wakeSeq: null }],
    ['idle: no wake-up and no stop request is lost', rest(snapshot()), { controlSeq, wakeSeq }],
    ['settle, giving the context back', settle(before, job(), outcome), { controlSeq, wakeSeq }],
    ['settle, with more in the queue', settle(running({ queued: 1 }), job(), outcome), { controlSeq, wakeSeq: null }],
    [
      'settle of a stopped worker releases all queued inputs',
      settle(running({ queued: 1, stopped: true }), job(), outcome),
      { controlSeq, wakeSeq },
    ],
    ['sleep: a stop request must be read first', sleep(before, job(), NOW), { controlSeq, wakeSeq: null }],
    ['start: nothing begins where a stop is on its way', startCall(before, call()), { controlSeq, wakeSeq: null }],
    [
      'answer: what was paid for is kept',
      answer(before, { job: job(), settings: settings() }, { ...given(), id: messageId }, NOW),
      { controlSeq: null, wakeSeq: null },
    ],
    ['results are kept', closeCalls(before, job(), []), { controlSeq: null, wakeSeq: null }],
  ])('%s', (_, append, guard) => {
    expect(append.guard).toEqual(guard);
  });
});

describe('admit', () => {
  test('the input gets the turn after the last, and the job begins', () => {
    const history = [userMessage(2, { turn: 'u3' }), assistantMessage(3, { turn: 'a3' })];
    const append = admit(snapshot({ history, next, queued: 1 }), next);
    expect(append.job).toMatchObject({
      kind: 'admit',
      job: { id: next.id, turn: 4, attempt: 1, status: 'running' },
    });
    expect(append.entries).toContainEqual({ kind: 'admit', messageId: id(20), turn: 'u4' });
    expect(append.entries[0]).toMatchObject({ event: { name: 'JobStarted', data: { job_id: next.id } } });
    expect(append.progress).toBe('none');
  });

  test('a retry answers the last turn again, and adds no message', () => {
    const history = [userMessage(2, { turn: 'u3' })];
    const append = admit(snapshot({ history }), queuedRetry());
    expect(append.job).toMatchObject({ job: { kind: 'retry', turn: 3 } });
    expect(append.entries.filter((entry) => entry.kind !== 'event')).toEqual([]);
  });

  test('a retry of an empty history has no turn: inputs that join it open the first', () => {
    const append = admit(snapshot({ history: [] }), queuedRetry());
    expect(append.job).toMatchObject({ job: { kind: 'retry', turn: 0 } });
  });

  test('limits of the queued job go with it', () => {
    const limited = queuedInput({ maxSteps: 3, deadline: NOW });
    expect(admit(snapshot(), limited).job).toMatchObject({ job: { maxSteps: 3, deadline: NOW } });
  });
});

describe('open', () => {
  test('a claim admits, or resumes the active job; everything else is left to the run', () => {
    const at = (of: Snapshot) => open(of, decide(of, NOW));
    expect(at(snapshot({ next, queued: 1 }))?.job?.kind).toBe('admit');
    expect(at(running())?.state).toBe('AwaitingLLMResponse');
    expect(at(running({ state: 'ExecutingTools', calls: [call()] }))?.state).toBe('ExecutingTools');
    expect(at(snapshot())).toBeNull();
    expect(at(running({ job: job({ stopRequest: cancelRequest() }) }))).toBeNull();
    expect(at(running({ job: job({ retryAt: NOW + 5_000 }) }))).toBeNull();
    expect(at(running({ serving: { kind: 'unsupported', missing: ['m'] } }))).toBeNull();
  });

  test('a model call that another run had begun is a new attempt; a wait that ended is not', () => {
    const attempt = (of: Snapshot) => open(of, decide(of, NOW))?.job?.job.attempt;
    expect(attempt(running())).toBe(2);
    expect(attempt(running({ state: 'TransientFailure', job: job({ status: 'waiting', attempt: 3 }) }))).toBe(3);
    expect(attempt(running({ state: 'ExecutingTools', calls: [call()] }))).toBe(1);
    // Inputs that join first change the prompt: without a new attempt, subscribers would join two answers.
    expect(attempt(running({ steers: [{ messageId, content: [] }] }))).toBe(2);
  });

  test('the writes of a claim are not progress: a job that kills its process must be detected', () => {
    for (const one of [snapshot({ next, queued: 1 }), running()]) {
      expect(open(one, decide(one, NOW))?.progress).toBe('none');
    }
  });
});

describe('answer', () => {
  test('each call gets its row, with the declaration of its tool', () => {
    const known = settings({ tools: [tool('mail', 'once'), tool('search')] });
    const append = answer(
      running(),
      { job: job(), settings: known },
      {
        ...given({ content: [toolUse(50, 'mail'), toolUse(51, 'nobody')], finishReason: 'tool_use' }),
        id: messageId,
      },
      NOW,
    );
    expect(append.calls).toEqual([
      {
        kind: 'request',
        call: expect.objectContaining({ id: id(50), ordinal: 0, effect: 'once', messageId }),
        wait: null,
      },
      {
        kind: 'request',
        call: expect.objectContaining({ id: id(51), ordinal: 1, effect: 'none' }),
        wait: null,
      },
    ]);
    expect(append.entries[0]).toMatchObject({
      message: { type: 'tool_call', turn: 'a1', role: 'assistant' },
    });
  });

  test('an answer adds one step; failures are reset, usage adds up', () => {
    const failing = job({ failures: 3, attempt: 4, retryAt: NOW, lastFailure: overloaded, steps: 2 });
    expect(answered(answered(failing, given()), given())).toMatchObject({
      steps: 4,
      failures: 0,
      attempt: 4,
      retryAt: null,
      lastFailure: null,
      usage: { input_tokens: 20, output_tokens: 10, cache_read_tokens: 2, cache_write_tokens: 4 },
    });
  });

  test('a message names the model that made it and its price', () => {
    expect(answerMessage(job(), settings(), { ...given(), id: messageId }).model).toEqual({
      modelId: 'm-2026',
      providerId: 'simulated',
      usage: given().usage,
      finishReason: 'stop',
    });
  });
});

describe('settle', () => {
  test('every open call is answered by rule, before the end is published', () => {
    const calls = [
      call(),
      call({ id: id(51), ordinal: 1, effect: 'once' }),
      call({ id: id(52), ordinal: 2, effect: 'once', status: 'started' }),
    ];
    const append = settle(running({ state: 'ExecutingTools', calls }), job(), { status: 'cancelled', reason: null });
    expect(append.calls).toEqual([
      { kind: 'close', id: id(50), status: 'cancelled', execution: null },
      { kind: 'close', id: id(51), status: 'cancelled', execution: null },
      { kind: 'close', id: id(52), status: 'unknown', execution: { beganAt: null, outcome: 'unknown' } },
    ]);
    const names = append.entries.map((entry) => (entry.kind === 'event' ? entry.event.name : entry.kind));
    expect(names).toEqual([...calls.flatMap(() => ['ToolCallFinished', 'message']), 'JobFinished', 'StateChanged']);
  });

  test('the last answer is written with the end', () => {
    const output = answerMessage(job(), settings(), { ...given(), id: messageId });
    const append = completed(running(), { job: job(), settings: settings() }, { ...given(), id: messageId });
    expect(append.job).toMatchObject({
      kind: 'settle',
      outcome: { status: 'completed', outputId: messageId },
    });
    expect(append.entries[0]).toEqual({ kind: 'message', message: output });
  });

  test.each<[JobOutcome['status'], boolean, DurableState, unknown]>([
    ['completed', false, 'Idle', 'clear'],
    ['incomplete', false, 'Idle', 'keep'],
    ['cancelled', false, 'Idle', 'keep'],
    ['failed', false, 'PermanentFailure', { ...error, jobId: JOB }],
    ['completed', true, 'Stopped', 'clear'],
    ['failed', true, 'Stopped', { ...error, jobId: JOB }],
  ])('%s (stopped: %s) leaves the context %s', (status, stopped, state, failure) => {
    const outcome = OUTCOMES.find((one) => one.status === status);
    if (outcome === undefined) throw new Error('no such outcome');
    const append = settle(running({ stopped }), job(), outcome);
    expect(append).toMatchObject({ state, failure, park: { status: 'idle' } });
  });

  test('with more in the queue the lease is kept', () => {
    expect(settle(running({ queued: 2 }), job(), { status: 'cancelled', reason: null }).park).toBeNull();
  });
});

describe('waits', () => {
  test('a failed call adds one failure and one attempt', () => {
    expect(delay(running(), job({ attempt: 2, failures: 1 }), overloaded, NOW + 5).job).toMatchObject({
      job: { attempt: 3, failures: 2, retryAt: NOW + 5, lastFailure: overloaded },
    });
  });

  test('sleep releases the slot until a given time, and records it on the job', () => {
    expect(sleep(running({ state: 'TransientFailure' }), job(), NOW + 9)).toMatchObject({
      park: { status: 'waiting', until: NOW + 9 },
      job: { job: { status: 'waiting' } },
      entries: [],
    });
  });

  test('a release: at once, or with the time of the next check', () => {
    expect(releaseUntil(running(), null).park).toEqual({ status: 'runnable' });
    expect(releaseUntil(running(), null).job).toMatchObject({ kind: 'progress', job: { status: 'waiting' } });
    expect(releaseUntil(running(), null).guard.controlSeq).toBe(running().controlSeq);
    expect(releaseUntil(running(), NOW).park).toEqual({ status: 'waiting', until: NOW });
  });
});

describe('results', () => {
  const one = call();
  test('a tool’s own error is a failed call, with its text', () => {
    expect(ended(one, { kind: 'result', content: 'no', is_error: true })).toMatchObject({
      status: 'failed',
      result: { content: 'no', is_error: true, tool_use_id: one.id },
    });
    expect(ended(one, { kind: 'result', content: 'ok', is_error: false, compact_summary: 's' })).toMatchObject({
      status: 'completed',
      result: { compact_summary: 's' },
    });
    expect(ended(one, { kind: 'result', content: 'ok', is_error: false }).result).not.toHaveProperty('compact_summary');
  });

  test('while calls are open the context stays executing; then the model call is next', () => {
    const calls = [one, call({ id: id<ToolCallId>(51), ordinal: 1 })];
    const before = running({ state: 'ExecutingTools', calls });
    const closed = calls.map((each) => closedByRule(each, { status: 'unknown', text: 't' }));
    expect(closeCalls(before, job(), closed.slice(0, 1)).state).toBe('ExecutingTools');
    expect(closeCalls(before, job(), closed).state).toBe('AwaitingLLMResponse');
  });
});
