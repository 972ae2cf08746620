// Why a context with work does not run: for each state that a waiting context may have.
import { expect, test } from 'vitest';
import type { DurableState } from '../../../src/core/run/state.ts';
import { waitReason } from '../../../src/core/run/wait-reason.ts';

const WAITING = { isRunnable: false, isThrottled: false, hasFailed: false };

test('a runnable context waits for a slot, whatever its state is', () => {
  for (const state of ['Idle', 'AwaitingLLMResponse', 'TransientFailure'] as const)
    expect(waitReason(state, { ...WAITING, isRunnable: true, hasFailed: true })).toBe('slot');
});

test('one whose processes died waits for its recovery, unless it waits for something that it named', () => {
  const died = { ...WAITING, hasFailed: true };
  for (const state of ['Idle', 'ExecutingTools', 'TransientFailure'] as const)
    expect(waitReason(state, died)).toBe('recovery');
  expect(waitReason('AwaitingToolApproval', died)).toBe('approval');
  expect(waitReason('AwaitingInput', died)).toBe('answer');
  expect(waitReason('AwaitingWorkers', died)).toBe('workers');
  expect(waitReason('TransientFailure', { ...died, isThrottled: true })).toBe('throttle');
});

test.each<[DurableState, string, string]>([
  ['AwaitingToolApproval', 'approval', 'approval'],
  ['AwaitingInput', 'answer', 'answer'],
  ['AwaitingWorkers', 'workers', 'workers'],
  ['ExecutingTools', 'timer', 'timer'],
  ['TransientFailure', 'retry', 'throttle'],
  ['AwaitingLLMResponse', 'unsupported', 'throttle'],
  ['Idle', 'unsupported', 'throttle'],
])('%s waits for %s, and with a throttle for %s', (state, reason, throttled) => {
  expect(waitReason(state, WAITING)).toBe(reason);
  expect(waitReason(state, { ...WAITING, isThrottled: true })).toBe(throttled);
});
