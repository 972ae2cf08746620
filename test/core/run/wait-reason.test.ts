// Why a context with work does not run: for each state that a waiting context may have.
import { expect, test } from 'vitest';
import type { DurableState } from '../../../src/core/run/state.ts';
import { waitReason } from '../../../src/core/run/wait-reason.ts';

test('a runnable context waits for a slot, whatever its state is', () => {
  for (const state of ['Idle', 'AwaitingLLMResponse', 'TransientFailure'] as const)
    expect(waitReason(state, true, false)).toBe('slot');
});

test.each<[DurableState, string, string]>([
  ['AwaitingToolApproval', 'approval', 'approval'],
  ['AwaitingInput', 'answer', 'answer'],
  ['AwaitingWorkers', 'workers', 'workers'],
  ['ExecutingTools', 'timer', 'timer'],
  ['TransientFailure', 'retry', 'throttle'],
  ['AwaitingLLMResponse', 'recovery', 'throttle'],
  ['Idle', 'recovery', 'throttle'],
])('%s waits for %s, and with a throttle for %s', (state, reason, throttled) => {
  expect(waitReason(state, false, false)).toBe(reason);
  expect(waitReason(state, false, true)).toBe(throttled);
});
