// Workers that make workers: the arguments of a call, the writes of an append, the length of a wait, and the limits.
import { traceParentOfJob } from '../../../src/core/tracing/trace-parent.ts';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/core/decide.ts';
import type { JobId, ToolCallId, WorkerId } from '../../../src/core/ids.ts';
import { engage } from '../../../src/core/transitions/engage.ts';
import { open } from '../../../src/core/transitions/open.ts';
import { settle } from '../../../src/core/transitions/settle.ts';
import { awaitCalls, endWaits } from '../../../src/core/transitions/waits.ts';
import type { Arrangement, Spawn } from '../../../src/core/workers/spawn.ts';
import type { OpenCall } from '../../../src/core/tools/tool-call.ts';
import { narrowed, overLimit } from '../../../src/core/workers/worker-limits.ts';
import { SPAWN_WORKER, WAIT_FOR_WORKERS, parseWorkerAsk, workersOf } from '../../../src/core/workers/worker-asks.ts';
import { NOW, call, id, job, running } from '../builders.ts';

const asking = (over: Partial<OpenCall> = {}): OpenCall => call({ name: SPAWN_WORKER, effect: 'once', ...over });
const waiting = (needs: number, over: Partial<OpenCall> = {}): OpenCall =>
  asking({ status: 'waiting', wait: { for: 'workers', until: null, needs }, ...over });

function spawned(of: OpenCall, awaited: boolean): Extract<Arrangement, { kind: 'spawned' }> {
  const spawn: Spawn = {
    callId: of.id,
    workerId: id(70),
    contextId: id(71),
    jobId: id(72),
    messageId: id(73),
    name: 'child',
    role: null,
    config: {},
    parentWorkerId: id(3),
    user: null,
    jobUser: null,
    rootWorkerId: id(3),
    parentJobId: id(1),
    depth: 1,
    detached: false,
    input: 'go',
    hops: 1,
    priority: 5,
    deadline: null,
    traceParent: traceParentOfJob(id(1)),
    awaited,
  };
  return { kind: 'spawned', call: of, spawn };
}

describe('the arguments of a call', () => {
  test.each([
    [SPAWN_WORKER, { input: 'go' }, { kind: 'spawn', wait: true, detached: false, role: null, tools: null }],
    [SPAWN_WORKER, { input: 'go', wait: false, tools: [], role: 'r' }, { wait: false, tools: [], role: 'r' }],
    [WAIT_FOR_WORKERS, { worker_ids: ['a'] }, { kind: 'wait', mode: 'all', timeoutMs: null }],
    [WAIT_FOR_WORKERS, { worker_ids: ['a'], mode: 'any', timeout_s: 1.5 }, { mode: 'any', timeoutMs: 1_500 }],
  ])('%s %j', (name, input, asked) => {
    expect(parseWorkerAsk(name, input)).toMatchObject(asked);
  });

  test.each([
    [SPAWN_WORKER, {}],
    [SPAWN_WORKER, 'go'],
    [SPAWN_WORKER, { input: '' }],
    [SPAWN_WORKER, { input: 'go', wait: 'yes' }],
    [SPAWN_WORKER, { input: 'go', tools: [1] }],
    [SPAWN_WORKER, { input: 'go', colour: 'red' }],
    [WAIT_FOR_WORKERS, { worker_ids: [] }],
    [WAIT_FOR_WORKERS, { worker_ids: ['a'], mode: 'some' }],
    [WAIT_FOR_WORKERS, { worker_ids: ['a'], timeout_s: -1 }],
    ['look', { input: 'go' }],
  ])('invalid: %s %j', (name, input) => {
    expect(parseWorkerAsk(name, input)).toBeNull();
  });

  test('the same worker twice counts once', () => {
    const one = id<WorkerId>(7);
    expect(workersOf({ kind: 'wait', workerIds: [one, one.toUpperCase()], mode: 'all', timeoutMs: null })).toEqual([
      one,
    ]);
    expect(workersOf({ kind: 'wait', workerIds: [one, 'x'], mode: 'all', timeoutMs: null })).toBeNull();
  });
});

describe('an append', () => {
  const calls = [asking(), asking({ id: id(51), ordinal: 1 })];
  const of = running({ state: 'ExecutingTools', calls, controlSeq: 9 });
  const [first, second] = calls;
  if (first === undefined || second === undefined) throw new Error('two calls');

  test('makes a child, and lets its call wait', () => {
    const move = engage(of, job(), [spawned(first, true), spawned(second, true)]);
    expect(move).toMatchObject({
      guard: { controlSeq: 9 },
      spawns: [{ callId: first.id }, { callId: second.id }],
      awaits: [{ callId: first.id, jobId: id(72), workerId: id(70), ordinal: 0 }, { callId: second.id }],
      calls: [
        { kind: 'wait', id: first.id, wait: { for: 'workers', until: null, needs: 1 } },
        { kind: 'wait', id: second.id },
      ],
      state: 'AwaitingWorkers',
    });
  });

  test('reports at once a child that no call waits for, and one that could not be made', () => {
    const refused: Arrangement = {
      kind: 'answered',
      call: second,
      result: { kind: 'result', content: 'no', is_error: true },
    };
    const move = engage(of, job(), [spawned(first, false), refused]);
    expect(move).toMatchObject({
      spawns: [{ callId: first.id }],
      awaits: [],
      calls: [
        { kind: 'close', id: first.id, status: 'completed' },
        { kind: 'close', id: second.id, status: 'failed' },
      ],
      state: 'AwaitingLLMResponse',
    });
    const texts = move.entries.flatMap((entry) => (entry.kind === 'message' ? entry.message.content : []));
    expect(texts).toMatchObject([{ content: expect.stringContaining(id(70)) }, { content: 'no', is_error: true }]);
  });

  test('leaves the calls that are still to be run as the state', () => {
    expect(engage(of, job(), [spawned(first, true)]).state).toBe('ExecutingTools');
  });
});

describe('a wait for workers', () => {
  test('parks until a worker ends, guarded by the counter that an end raises', () => {
    const of = running({ state: 'AwaitingWorkers', calls: [waiting(2)], wakeSeq: 4 });
    const step = decide(of, NOW);
    expect(step).toMatchObject({ kind: 'await_calls' });
    expect(awaitCalls(of, job(), NOW + 1).guard).toMatchObject({ wakeSeq: 4 });
  });

  test('for jobs that already existed is checked again soon', () => {
    const made = Date.parse('2026-01-01');
    const at = (ms: number) => Math.trunc(ms).toString(16).padStart(12, '0');
    const callId = `${at(made).slice(0, 8)}-${at(made).slice(8)}-7000-8000-000000000000` as ToolCallId;
    const of = running({
      state: 'AwaitingWorkers',
      calls: [waiting(1, { id: callId, name: WAIT_FOR_WORKERS, effect: 'none' })],
    });
    expect(decide(of, made + 10)).toMatchObject({ until: made + 10 + 1_000 });
    expect(decide(of, made + 60_000)).toMatchObject({ until: made + 120_000 });
    // A call that was approved after days began to wait only then.
    const late = made + 3 * 86_400_000;
    expect(decide(of, late)).toMatchObject({ until: late + 600_000 });
  });

  test('with no job left to wait for is over, and a claim leaves it to the run that reads the ends', () => {
    const over = waiting(0);
    const of = running({ state: 'AwaitingWorkers', calls: [over] });
    const step = decide(of, NOW);
    expect(step).toMatchObject({ kind: 'end_waits', over: [over] });
    expect(open(of, step)).toBeNull();
    const told = new Map([[over.id, { kind: 'result', content: 'all well', is_error: false } as const]]);
    expect(endWaits(of, { job: job(), over: [over], now: NOW }, told)).toMatchObject({
      calls: [{ kind: 'close', id: over.id, status: 'completed' }],
      released: [over.id],
    });
  });

  test('ends with its job, and is no longer counted down', () => {
    const of = running({ state: 'AwaitingWorkers', calls: [waiting(1)] });
    const move = settle(of, job({ id: id<JobId>(1) }), { status: 'cancelled', reason: null });
    expect(move.calls).toMatchObject([{ kind: 'close', status: 'cancelled' }]);
    expect(move.released).toEqual([waiting(1).id]);
  });
});

describe('limits', () => {
  const wide = { depth: 3, children: 4, workers: 5 };

  test('combine to the narrower one, member by member', () => {
    expect(narrowed(wide, { depth: 9, children: 2 })).toEqual({ depth: 3, children: 2, workers: 5 });
  });

  test.each([
    [{ depth: 2, children: 3, inTree: 4, ofTenant: 5 }, 6, null],
    [{ depth: 3, children: 0, inTree: 0, ofTenant: 0 }, null, /the limit is 3, so it cannot create children/],
    [{ depth: 0, children: 4, inTree: 0, ofTenant: 0 }, null, /4 of at most 4 children/],
    [{ depth: 0, children: 0, inTree: 5, ofTenant: 0 }, null, /5 of at most 5 workers of this tree/],
    [{ depth: 0, children: 0, inTree: 0, ofTenant: 7 }, 7, /7 of at most 7 workers are active/],
  ])('%j of at most %j', (counts, tenant, problem) => {
    const received = overLimit(counts, wide, tenant);
    if (problem === null) expect(received).toBeNull();
    else expect(received).toMatch(problem);
  });
});
