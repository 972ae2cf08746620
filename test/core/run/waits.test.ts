// Waiting calls of every kind: how long, what a user sees meanwhile, and what history reports of the end.
import { describe, expect, test } from 'vitest';
import { apply } from '../../../src/core/run/apply.ts';
import { decide } from '../../../src/core/decide.ts';
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import { open } from '../../../src/core/transitions/open.ts';
import { awaitCalls, endWaits } from '../../../src/core/transitions/waits.ts';
import { settle } from '../../../src/core/transitions/settle.ts';
import { WAITS_FOR, type OpenCall, type WaitsFor } from '../../../src/core/tools/tool-call.ts';
import { NOW, call, committed, id, job, running, settings } from '../builders.ts';

type Asked = { for: WaitsFor; until?: number; needs?: number };
const waiting = ({ for: kind, until, needs }: Asked, over: Partial<OpenCall> = {}): OpenCall =>
  call({
    status: 'waiting',
    wait:
      kind === 'timer'
        ? { for: kind, since: NOW - 60_000, until: until ?? NOW + 60_000, needs: null }
        : { for: kind, until: until ?? null, needs: needs ?? null },
    ...over,
  });
const other = (of: OpenCall): OpenCall => ({ ...of, id: id(51), ordinal: 1 });

test.each(WAITS_FOR)('for %s: occupies no slot, and ends at its deadline', (kind) => {
  const of = running({ state: 'ExecutingTools', calls: [waiting({ for: kind, until: NOW + 7 })] });
  expect(decide(of, NOW)).toMatchObject({ kind: 'await_calls', until: NOW + 7 });
  expect(decide(of, NOW + 7)).toMatchObject({ kind: 'end_waits', over: of.calls });
});

describe('what a user sees', () => {
  test.each<[string, OpenCall[], string]>([
    ['approval', [waiting({ for: 'approval' })], 'AwaitingToolApproval'],
    ['an unknown outcome', [waiting({ for: 'outcome' })], 'AwaitingToolApproval'],
    ['an answer', [waiting({ for: 'answer' })], 'AwaitingInput'],
    ['workers', [waiting({ for: 'workers', needs: 1 })], 'AwaitingWorkers'],
    ['a timer', [waiting({ for: 'timer' })], 'ExecutingTools'],
    [
      'a person before all else',
      [waiting({ for: 'workers', needs: 1 }), other(waiting({ for: 'approval' }))],
      'AwaitingToolApproval',
    ],
  ])('%s', (_, calls, state) => {
    expect(awaitCalls(running({ state: 'ExecutingTools', calls }), job(), NOW + 1).state).toBe(state);
  });
});

describe('the end of a wait', () => {
  const ended = (of: OpenCall) => endWaits(running({ calls: [of] }), { job: job(), over: [of], now: NOW });
  const words = (of: OpenCall): unknown =>
    ended(of).entries.flatMap((entry) => (entry.kind === 'message' ? entry.message.content : []));

  test('denied, with the reason that was given', () => {
    const denied = waiting({ for: 'approval' }, { approval: { decision: 'deny', reason: 'not today', input: null } });
    expect(ended(denied).calls).toMatchObject([{ kind: 'close', status: 'denied' }]);
    expect(words(denied)).toMatchObject([{ content: 'Denied by the operator: not today', is_error: true }]);
  });

  test('no decision arrived in time: the call did not run', () => {
    expect(ended(waiting({ for: 'approval', until: NOW })).calls).toMatchObject([{ status: 'expired' }]);
  });

  test('the time came: the model learns how long it slept', () => {
    expect(ended(waiting({ for: 'timer', until: NOW })).calls).toMatchObject([{ status: 'completed' }]);
    expect(words(waiting({ for: 'timer', until: NOW }))).toMatchObject([
      { content: '{"slept_s":60}', is_error: false },
    ]);
  });

  test('no decision arrived in time, and the timeout approves the call: it runs', () => {
    const of = waiting({ for: 'approval', until: NOW });
    const asking = { ...ASKING_DEFAULTS, onExpiry: 'approve' as const };
    const before = running({
      calls: [of],
      state: 'AwaitingToolApproval',
      serving: { kind: 'served', settings: settings({ asking }) },
    });
    const move = endWaits(before, { job: job(), over: [of], now: NOW }, new Map(), new Set([of.id]));
    const approval = { decision: 'approve', reason: null, input: null };
    expect(move.calls).toEqual([{ kind: 'approve', id: of.id, approval }]);
    expect(move).toMatchObject({ state: 'ExecutingTools', guard: { controlSeq: before.controlSeq } });
    expect(move.entries).toMatchObject([
      { event: { name: 'ApprovalResolved', data: { decision: 'approve', by: 'timeout' } } },
      { event: { name: 'StateChanged', data: { new_state: 'ExecutingTools' } } },
    ]);
    const next = apply(before, move, committed(move, before, 9));
    expect(decide(next, NOW)).toMatchObject({ kind: 'call_tools', run: [{ id: of.id, approval }] });
  });

  test('no decision arrived in time, and the default is to approve, but the tool itself asks: the call did not run', () => {
    const of = waiting({ for: 'approval', until: NOW });
    const asking = { ...ASKING_DEFAULTS, onExpiry: 'approve' as const };
    const before = running({
      calls: [of],
      state: 'AwaitingToolApproval',
      serving: { kind: 'served', settings: settings({ asking }) },
    });
    const waits = { job: job(), over: [of], now: NOW };
    // Only the tool can tell, so no wait ends when the run is opened.
    expect(open(before, { kind: 'end_waits', ...waits })).toBeNull();
    const move = endWaits(before, waits);
    expect(move.calls).toMatchObject([{ kind: 'close', status: 'expired' }]);
    expect(move.entries[0]).toMatchObject({
      event: { name: 'ApprovalResolved', data: { decision: 'deny', by: 'timeout', actor: null } },
    });
  });

  test('an earlier decision ends no later wait of the same call', () => {
    const approval = { decision: 'approve', reason: null, input: null } as const;
    for (const kind of ['answer', 'outcome'] as const)
      expect(decide(running({ calls: [waiting({ for: kind }, { approval })] }), NOW).kind).toBe('await_calls');
  });

  test('no answer arrived in time: whether a client ran the call is unknown', () => {
    expect(ended(waiting({ for: 'answer', until: NOW })).calls).toMatchObject([{ status: 'expired' }]);
    expect(ended(waiting({ for: 'answer', until: NOW }, { effect: 'once' })).calls).toMatchObject([
      { status: 'unknown' },
    ]);
  });

  test.each<[WaitsFor, string]>([
    ['approval', 'cancelled'],
    ['outcome', 'unknown'],
    ['answer', 'unknown'],
    ['workers', 'cancelled'],
    ['timer', 'cancelled'],
  ])('with its job, a `once` call that waits for %s is %s', (kind, status) => {
    const of = running({ calls: [waiting({ for: kind }, { effect: 'once' })] });
    const move = settle(of, job(), { status: 'cancelled', reason: null });
    expect(move.calls).toMatchObject([{ kind: 'close', status }]);
  });
});
