// The decision of the agent loop, branch by branch: a snapshot on the left, a decision on the right.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COMPACTION_DEFAULTS } from '../../src/core/compaction/settings.ts';
import { decide, type Decision } from '../../src/core/decide.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { MessageId } from '../../src/core/ids.ts';
import { KEEP_SLOT_MS } from '../../src/core/run/retry.ts';
import type { Serving } from '../../src/core/workers/settings.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import type { Turn } from '../../src/core/conversation/turn.ts';
import {
  NOW,
  OTHER_JOB,
  assistantMessage,
  call,
  cancelRequest,
  id,
  job,
  queuedInput,
  queuedRetry,
  running,
  settings,
  snapshot,
  toolMessage,
  toolUse,
  userMessage,
} from './builders.ts';

const served = settings();
const unsupported: Serving = { kind: 'unsupported', missing: ['tool:mail'] };
const systemNote = userMessage(9, { role: 'system', jobId: null });
const pausing = assistantMessage(3, {
  model: { modelId: 'm', providerId: 'p', usage: job().usage, finishReason: 'pause' },
});

type Case = [what: string, of: Snapshot, step: Decision];

describe('between jobs', () => {
  const next = queuedInput();
  const retry = queuedRetry();
  const cancelled = queuedInput({ stopRequest: cancelRequest() });
  test.each<Case>([
    ['nothing queued: park', snapshot(), { kind: 'park' }],
    ['an input queued: admit it', snapshot({ next, queued: 1 }), { kind: 'admit', next }],
    ['a retry queued: admit it', snapshot({ next: retry, queued: 1 }), { kind: 'admit', next: retry }],
    ['stopped: park, whatever is queued', snapshot({ stopped: true, next, queued: 1 }), { kind: 'park' }],
    [
      'stopped and not served: park all the same',
      snapshot({ stopped: true, next, queued: 1, serving: unsupported }),
      { kind: 'park' },
    ],
    [
      'a config that is unsupported here is released before admission',
      snapshot({ next, queued: 1, serving: unsupported }),
      { kind: 'release_unsupported', missing: ['tool:mail'] },
    ],
    [
      'a tenant that is not active: released before admission',
      snapshot({ isTenantActive: false, next, queued: 1 }),
      { kind: 'release' },
    ],
    [
      'a tenant that is not active: a job that was cancelled ends all the same',
      snapshot({ isTenantActive: false, next: cancelled, queued: 1 }),
      { kind: 'admit', next: cancelled },
    ],
    ['a tenant that is not active, nothing queued: park', snapshot({ isTenantActive: false }), { kind: 'park' }],
    [
      'a tenant that is not active, stopped: park',
      snapshot({ isTenantActive: false, stopped: true, next, queued: 1 }),
      { kind: 'park' },
    ],
    ['nothing queued and not served: park', snapshot({ serving: unsupported }), { kind: 'park' }],
    [
      'failed claims do not matter without an active job',
      snapshot({ next, queued: 1, failedClaims: 99 }),
      { kind: 'admit', next },
    ],
  ])('%s', (_, of, step) => {
    expect(decide(of, NOW)).toEqual(step);
  });
});

describe('within a job', () => {
  const finish = (of: Snapshot) => {
    const step = decide(of, NOW);
    return step.kind === 'finish' ? step.outcome : step;
  };
  const callModel: Decision = { kind: 'call_model', job: job(), settings: served };

  test.each<Case>([
    ['an unanswered input: call the model', running(), callModel],
    [
      'all results are there: call the model',
      running({
        history: [userMessage(2), assistantMessage(3, { content: [toolUse(50)] }), toolMessage(4, id(50))],
      }),
      callModel,
    ],
    ['a pause: call the model again', running({ history: [userMessage(2), pausing] }), callModel],
    ['a note of the platform does not hide the input', running({ history: [userMessage(2), systemNote] }), callModel],
    [
      'a new input behind an old answer: call the model',
      running({
        history: [userMessage(2, { jobId: OTHER_JOB }), assistantMessage(3, { jobId: OTHER_JOB }), userMessage(5)],
      }),
      callModel,
    ],
    [
      'a retry on an unanswered input: call the model',
      running({ job: job({ kind: 'retry' }), history: [userMessage(2, { jobId: OTHER_JOB })] }),
      { ...callModel, job: job({ kind: 'retry' }) },
    ],
    [
      'a config that is unsupported here is released',
      running({ serving: unsupported }),
      { kind: 'release_unsupported', missing: ['tool:mail'] },
    ],
    [
      'open calls of a worker that is not served here are not run here',
      running({ calls: [call()], serving: unsupported }),
      { kind: 'release_unsupported', missing: ['tool:mail'] },
    ],
    [
      'a stopped worker without a stop request continues: only the stop request ends jobs',
      running({ stopped: true }),
      callModel,
    ],
  ])('%s', (_, of, step) => {
    expect(decide(of, NOW)).toEqual(step);
  });

  test('open calls are run, and those that were started before are unknown', () => {
    const pending = call();
    const once = call({ id: id(51), ordinal: 1, effect: 'once' });
    const started = call({ id: id(52), ordinal: 2, effect: 'once', status: 'started' });
    expect(decide(running({ calls: [pending, once, started] }), NOW)).toEqual({
      kind: 'call_tools',
      job: job(),
      settings: served,
      run: [pending, once],
      unknown: [started],
    });
  });

  test('an answer of the job itself completes it', () => {
    const answer = assistantMessage(3);
    expect(finish(running({ history: [userMessage(2), answer] }))).toEqual({
      status: 'completed',
      outputId: answer.id,
    });
    expect(finish(running({ history: [userMessage(2), answer, systemNote] }))).toMatchObject({
      status: 'completed',
    });
  });

  test.each([
    ['no message at all', [], 'empty_context'],
    ['nothing but notes of the platform', [systemNote], 'empty_context'],
    ['an answer of another job', [userMessage(2), assistantMessage(3, { jobId: OTHER_JOB })], 'nothing_to_answer'],
    ['an answer of no job', [userMessage(2), assistantMessage(3, { jobId: null })], 'nothing_to_answer'],
  ])('%s fails with a code', (_, history, code) => {
    expect(finish(running({ job: job({ kind: 'retry' }), history }))).toMatchObject({
      status: 'failed',
      error: { code },
    });
  });

  test('a paused turn still owes its answer, also to another job', () => {
    const of = running({
      job: job({ kind: 'retry' }),
      history: [userMessage(2), { ...pausing, jobId: OTHER_JOB }],
    });
    expect(decide(of, NOW)).toMatchObject({ kind: 'call_model' });
  });

  test('a stop request ends the job before anything else is checked', () => {
    const of = running({
      job: job({ stopRequest: cancelRequest(), deadline: NOW - 1 }),
      history: [],
      calls: [call()],
      failedClaims: 99,
      serving: unsupported,
    });
    expect(finish(of)).toEqual({ status: 'cancelled', reason: 'enough' });
  });

  test('a job that keeps killing its processes fails at the limit and not before', () => {
    expect(decide(running({ failedClaims: LIMITS.failedClaims - 1 }), NOW).kind).toBe('call_model');
    expect(finish(running({ failedClaims: LIMITS.failedClaims, serving: unsupported }))).toMatchObject({
      status: 'failed',
      error: { code: 'crash_loop' },
    });
  });

  test('a job that its tenant may not run fails, unless it has its answer', () => {
    const serving = { kind: 'not_allowed', message: 'no', output: { outputSchema: null, outputRetries: 2 } } as const;
    const error = { code: 'not_allowed', message: 'no' };
    const waiting = call({ status: 'waiting', wait: { for: 'workers', until: null, needs: 1 } });
    for (const over of [
      {},
      { calls: [call()] },
      { calls: [waiting] },
      { steers: [{ messageId: id<MessageId>(9), content: [] }] },
    ])
      expect(finish(running({ ...over, serving }))).toEqual({ status: 'failed', error });
    const answered = running({ history: [userMessage(2), assistantMessage(3)], serving });
    expect(finish(answered)).toMatchObject({ status: 'completed' });
    expect(finish(running({ job: job({ stopRequest: cancelRequest() }), serving }))).toMatchObject({
      status: 'cancelled',
    });
  });

  test('the next job starts although its tenant may not run it: it then fails', () => {
    const serving = { kind: 'not_allowed', message: 'no', output: { outputSchema: null, outputRetries: 2 } } as const;
    expect(decide(snapshot({ next: queuedRetry(), queued: 1, serving }), NOW)).toMatchObject({ kind: 'admit' });
  });

  test('a compaction fails whose model the tenant may not use', () => {
    const asked = { type: 'llm', model: 'openai/gpt' } as const;
    const of = running({ job: job({ kind: 'compact', asked }), allow: { models: ['simulated/*'] } });
    expect(finish(of)).toMatchObject({ status: 'failed', error: { code: 'not_allowed', message: /openai\/gpt/ } });
  });

  test.each([
    [NOW - 1, 'finish'],
    [NOW, 'finish'],
    [NOW + 1, 'call_model'],
    [null, 'call_model'],
  ])('a deadline of %s at %s', (deadline, kind) => {
    expect(decide(running({ job: job({ deadline }) }), NOW).kind).toBe(kind);
  });

  test('an answer that was given in time counts, however late it is read', () => {
    const history = [userMessage(2), assistantMessage(3)];
    const late = running({ job: job({ deadline: NOW - 1 }), history });
    expect(finish(late)).toMatchObject({ status: 'completed' });
  });

  test('a deadline ends a job even while calls are open', () => {
    expect(finish(running({ job: job({ deadline: NOW }), calls: [call()] }))).toMatchObject({
      status: 'incomplete',
      error: { code: 'deadline' },
    });
  });

  test.each([
    ['the worker’s limit', null, 10, 9, 'call_model'],
    ['the worker’s limit', null, 10, 10, 'finish'],
    ['the job’s own limit, which is lower', 3, 10, 3, 'finish'],
    ['the job’s own limit, which is higher', 20, 10, 19, 'call_model'],
    ['the job’s own limit, which is higher', 20, 10, 20, 'finish'],
  ])('%s: own %s, worker’s %i, %i steps made → %s', (_, own, workers, steps, kind) => {
    const of = running({
      job: job({ maxSteps: own, steps }),
      serving: { kind: 'served', settings: settings({ maxSteps: workers }) },
    });
    expect(decide(of, NOW).kind).toBe(kind);
  });

  test('an existing answer counts, even where no step is left', () => {
    expect(finish(running({ job: job({ steps: 10 }), history: [userMessage(2), assistantMessage(3)] }))).toMatchObject({
      status: 'completed',
    });
  });

  test.each([
    ['over', NOW, 'call_model'],
    ['short: keeps its slot', NOW + KEEP_SLOT_MS, { until: NOW + KEEP_SLOT_MS, keepSlot: true }],
    ['long: parks', NOW + KEEP_SLOT_MS + 1, { until: NOW + KEEP_SLOT_MS + 1, keepSlot: false }],
  ])('a wait for a retry that is %s', (_, retryAt, expected) => {
    const step = decide(running({ job: job({ retryAt }) }), NOW);
    if (typeof expected === 'string') expect(step.kind).toBe(expected);
    else expect(step).toEqual({ kind: 'wait', job: job({ retryAt }), ...expected });
  });

  test('a wait ends at the deadline where that comes first', () => {
    const waiting = job({ retryAt: NOW + 60_000, deadline: NOW + 1_000 });
    expect(decide(running({ job: waiting }), NOW)).toEqual({
      kind: 'wait',
      job: waiting,
      until: NOW + 1_000,
      keepSlot: true,
    });
  });

  test('open calls do not wait for a retry', () => {
    expect(decide(running({ job: job({ retryAt: NOW + 60_000 }), calls: [call()] }), NOW).kind).toBe('call_tools');
  });
});

describe('for any snapshot', () => {
  const someSnapshot = fc
    .record({
      withJob: fc.boolean(),
      stopRequest: fc.boolean(),
      stopped: fc.boolean(),
      isTenantActive: fc.boolean(),
      queued: fc.boolean(),
      isServed: fc.boolean(),
      failedClaims: fc.nat(8),
      deadline: fc.option(fc.integer({ min: NOW - 5, max: NOW + 5 })),
      retryAt: fc.option(fc.integer({ min: NOW - 5, max: NOW + 5_000 })),
      steps: fc.nat(12),
      calls: fc.nat(3),
      history: fc.array(fc.constantFrom(userMessage(1), assistantMessage(2), toolMessage(3, id(50)), systemNote)),
    })
    .map((some) =>
      snapshot({
        stopped: some.stopped,
        isTenantActive: some.isTenantActive,
        next: some.queued ? queuedInput() : null,
        queued: some.queued ? 1 : 0,
        failedClaims: some.failedClaims,
        history: some.history,
        serving: some.isServed ? { kind: 'served', settings: served } : unsupported,
        calls: some.withJob ? Array.from({ length: some.calls }, (_, n) => call({ id: id(50 + n), ordinal: n })) : [],
        job: some.withJob
          ? job({
              stopRequest: some.stopRequest ? cancelRequest() : null,
              deadline: some.deadline,
              retryAt: some.retryAt,
              steps: some.steps,
            })
          : null,
      }),
    );

  test('nothing is admitted while a job is active, and no model is called while calls are open', () => {
    fc.assert(
      fc.property(someSnapshot, (of) => {
        const step = decide(of, NOW);
        if (of.job !== null) expect(['admit', 'park']).not.toContain(step.kind);
        if (of.job === null) expect(['admit', 'park', 'release', 'release_unsupported']).toContain(step.kind);
        if (!of.isTenantActive) expect(step.kind).not.toBe('admit');
        if (of.calls.length > 0) expect(['call_model', 'wait']).not.toContain(step.kind);
        if (of.job?.stopRequest) expect(step.kind).toBe('finish');
        if (of.serving.kind === 'unsupported') expect(['call_model', 'call_tools', 'admit']).not.toContain(step.kind);
        if (step.kind === 'wait') expect(step.until).toBeGreaterThan(NOW);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the same snapshot at the same time gives the same decision, and is not changed', () => {
    fc.assert(
      fc.property(someSnapshot, (of) => {
        const before = structuredClone(of);
        expect(decide(of, NOW)).toEqual(decide(structuredClone(of), NOW));
        expect(of).toEqual(before);
      }),
    );
  });
});

describe('a history that is too long to be read at once', () => {
  const entry = (seq: number, turn: Turn) =>
    userMessage(seq, { turn, content: [{ type: 'text', text: 'word '.repeat(300) }] });
  const read = Array.from({ length: 12 }, (_, index) => entry(2 + index, `u${index + 1}`));
  const unread = { messages: 12, readBytes: 18_000, bytes: 400 * 1024 * 1024 };
  const summarising = settings({ compaction: { ...COMPACTION_DEFAULTS, type: 'llm' } });
  const of = (over: Partial<Snapshot> = {}) =>
    running({
      history: [...read, userMessage(99_999, { turn: 'u900', content: [] })],
      unread,
      serving: { kind: 'served', settings: summarising },
      ...over,
    });

  test('its beginning is summarised, never a part that was not read', () => {
    const step = decide(of(), NOW);
    expect(step).toMatchObject({ kind: 'compact', plan: { type: 'llm', cut: 12, uptoSeq: 13, from: 0 } });
    // Messages that entered history since the read do not move the cut.
    const history = [...of().history, entry(100_001, 'u901')];
    expect(decide(of({ history }), NOW)).toEqual(step);
  });

  test('of a beginning that is too long for the model, the part that fits is summarised', () => {
    const short = settings({ contextLimit: 1_000, compaction: { ...COMPACTION_DEFAULTS, type: 'llm' } });
    expect(decide(of({ serving: { kind: 'served', settings: short } }), NOW)).toMatchObject({
      kind: 'compact',
      plan: { cut: 3, uptoSeq: 4 },
    });
  });

  test.each<[string, Snapshot]>([
    ['where no model summarises', of({ serving: { kind: 'served', settings: served } })],
    ['where nothing of it could be read', of({ history: [], unread: { ...unread, messages: 0, readBytes: 0 } })],
    ['where it was asked for shortened results', of({ job: job({ kind: 'compact', asked: { type: 'threshold' } }) })],
  ])('the job fails %s', (_, snapshot) => {
    const history = snapshot.history.length === 0 ? [userMessage(99_999, { content: [] })] : snapshot.history;
    expect(decide({ ...snapshot, history }, NOW)).toMatchObject({
      kind: 'finish',
      outcome: { status: 'failed', error: { code: 'prompt_too_long' } },
    });
  });

  test("a requested compaction summarises it, whatever the worker's setting", () => {
    const asked = job({ kind: 'compact', asked: { type: 'llm' } });
    expect(decide(of({ job: asked, serving: { kind: 'served', settings: served } }), NOW).kind).toBe('compact');
  });

  test('after a failed summary it waits like any other model call', () => {
    expect(decide(of({ job: job({ retryAt: NOW + 60_000 }) }), NOW).kind).toBe('wait');
  });

  test('running calls and answers that end the job do not need it', () => {
    expect(decide(of({ calls: [call()] }), NOW).kind).toBe('call_tools');
    const history = [...read, assistantMessage(99_999, { content: [] })];
    expect(decide(of({ history }), NOW)).toMatchObject({ kind: 'finish', outcome: { status: 'completed' } });
  });
});
