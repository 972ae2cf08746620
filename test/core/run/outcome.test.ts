// The handling of calls that began and lost their run.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/core/decide.ts';
import { apply } from '../../../src/core/run/apply.ts';
import { settleOutcomes, type LostCall } from '../../../src/core/transitions/outcome.ts';
import { closeCalls, closedByRule, ended, startCall } from '../../../src/core/transitions/tools.ts';
import { endWaits } from '../../../src/core/transitions/waits.ts';
import type { OpenCall } from '../../../src/core/tools/tool-call.ts';
import { NOW, call, committed, id, job, running } from '../builders.ts';

const begun = (over: Partial<OpenCall> = {}): OpenCall => call({ effect: 'once', status: 'started', ...over });
const lost = (reconciled: LostCall['reconciled'], over: Partial<OpenCall> = {}): LostCall => ({
  call: begun(over),
  input: { to: 'ada' },
  reconciled,
});
const settled = (...all: LostCall[]) => {
  const of = running({ state: 'ExecutingTools', calls: all.map((one) => one.call) });
  const move = settleOutcomes(of, job(), { calls: all, until: NOW + 5 });
  return { move, after: apply(of, move, committed(move, of, 9)) };
};
const names = (move: ReturnType<typeof settleOutcomes>): string[] =>
  move.entries.map((entry) => (entry.kind === 'event' ? entry.event.name : entry.kind));

describe('a call that began and whose end is not known', () => {
  test('where the outcome is unknown and no person is to be asked: the model is informed', () => {
    const { move } = settled(lost({ kind: 'unknown' }));
    expect(move.calls).toEqual([
      { kind: 'close', id: id(50), status: 'unknown', execution: { beganAt: null, outcome: 'unknown' } },
    ]);
    expect(names(move)).toEqual(['ToolCallFinished', 'message', 'StateChanged']);
    expect(move).toMatchObject({ state: 'AwaitingLLMResponse', progress: 'made' });
  });

  test('where a person is asked: it waits, and occupies no slot', () => {
    const { move, after } = settled(lost({ kind: 'unknown' }, { onUnknown: 'ask' }));
    const wait = { for: 'outcome', until: NOW + 5, needs: null };
    expect(move.calls).toEqual([{ kind: 'wait', id: id(50), wait }]);
    expect(names(move)).toEqual(['OutcomeUnknown', 'StateChanged']);
    expect(move.entries[0]).toMatchObject({ event: { data: { input: { to: 'ada' } } } });
    expect(move.state).toBe('AwaitingToolApproval');
    expect(decide(after, NOW)).toMatchObject({ kind: 'await_calls', until: NOW + 5 });
    expect(decide(after, NOW + 5)).toMatchObject({ kind: 'end_waits' });
  });

  test('where its tool knows the result: that is its result', () => {
    const result = { kind: 'result', content: 'sent', is_error: false } as const;
    const { move } = settled(lost({ kind: 'happened', result }, { onUnknown: 'ask' }));
    expect(move.calls).toMatchObject([
      { kind: 'close', status: 'completed', execution: { beganAt: null, outcome: 'completed' } },
    ]);
  });

  test('where its tool knows that it did not happen: it is run again, and that is not progress', () => {
    const { move, after } = settled(lost({ kind: 'did_not_happen' }));
    expect(move.calls).toEqual([{ kind: 'reopen', id: id(50) }]);
    expect(move).toMatchObject({ entries: [], state: 'ExecutingTools', progress: 'none' });
    expect(decide(after, NOW)).toMatchObject({
      kind: 'call_tools',
      run: [{ status: 'pending' }],
      unknown: [],
    });
  });

  test('several at once are one append', () => {
    const { move, after } = settled(
      lost({ kind: 'unknown' }, { onUnknown: 'ask' }),
      lost({ kind: 'did_not_happen' }, { id: id(51), ordinal: 1 }),
      lost({ kind: 'unknown' }, { id: id(52), ordinal: 2 }),
    );
    expect(move.calls.map(({ kind }) => kind)).toEqual(['wait', 'reopen', 'close']);
    expect(move).toMatchObject({ state: 'ExecutingTools', progress: 'made' });
    expect(after.calls.map(({ status }) => status)).toEqual(['waiting', 'pending']);
  });
});

describe('the outcome that a person reported', () => {
  const waiting = (isError: boolean): OpenCall =>
    begun({
      status: 'waiting',
      wait: { for: 'outcome', until: null, needs: null },
      reply: { content: 'sent', isError },
      // It was approved before it ran.
      approval: { decision: 'approve', reason: null, input: null },
    });

  test.each([
    ['that it happened', false, 'completed'],
    ['that it is unknown', true, 'unknown'],
  ])('%s', (_, isError, status) => {
    const of = waiting(isError);
    const move = endWaits(running({ calls: [of] }), { job: job(), over: [of], now: NOW });
    expect(move.calls).toEqual([{ kind: 'close', id: id(50), status, execution: null }]);
  });

  test('an approval from before it ran ends no wait for its outcome', () => {
    const of = { ...waiting(false), reply: null };
    expect(decide(running({ calls: [of] }), NOW)).toMatchObject({ kind: 'await_calls' });
  });
});

describe('the ledger', () => {
  const result = { kind: 'result', content: 'ok', is_error: false } as const;
  const executions = (...closed: Parameters<typeof closeCalls>[2]) =>
    closeCalls(running({ state: 'ExecutingTools', calls: closed.map((one) => one.call) }), job(), closed).calls.map(
      (change) => (change.kind === 'close' ? change.execution : change),
    );

  test('has a call that may run again with its start and its end', () => {
    expect(executions(ended(call(), result, NOW))).toEqual([{ beganAt: NOW, outcome: 'completed' }]);
    expect(executions(ended(call({ effect: 'idempotent' }), { ...result, is_error: true }, NOW))).toEqual([
      { beganAt: NOW, outcome: 'failed' },
    ]);
  });

  test('has a `once` call from its mark, and its end from its result', () => {
    expect(startCall(running(), call({ effect: 'once' }))).toMatchObject({
      calls: [{ kind: 'start' }],
      state: 'ExecutingTools',
      progress: 'none',
    });
    expect(executions(ended(begun(), result, NOW))).toEqual([{ beganAt: null, outcome: 'completed' }]);
  });

  test('has a call that was marked and not started as cancelled', () => {
    const closing = { status: 'cancelled', text: 'never ran' } as const;
    expect(executions(closedByRule(begun(), closing))).toEqual([{ beganAt: null, outcome: 'cancelled' }]);
  });

  test('has no entry for a call that was not run', () => {
    const closing = { status: 'cancelled', text: 'never ran' } as const;
    expect(executions(closedByRule(call({ effect: 'once' }), closing), closedByRule(call(), closing))).toEqual([
      null,
      null,
    ]);
    expect(executions(ended(call(), result))).toEqual([null]);
  });
});
