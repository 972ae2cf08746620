// The table of states, and the page that is generated from it.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { STATES_PAGE, statesPage } from '../../../scripts/states-page.ts';
import {
  FLEETING,
  STATES,
  TRANSITIONS,
  mayFollow,
  shownState,
  type DurableState,
  type State,
} from '../../../src/core/run/state.ts';

const ends: readonly State[] = ['Idle', 'PermanentFailure', 'Stopped'];
const reachable = (from: State): Set<State> => {
  const seen = new Set<State>([from]);
  for (const state of seen) for (const next of TRANSITIONS[state]) seen.add(next);
  return seen;
};

test('docs/states.md matches the table: `node scripts/states-page.ts` generates it', () => {
  expect(readFileSync(STATES_PAGE, 'utf8')).toBe(statesPage());
});

test.each(STATES)('a context may stay in %s', (state) => {
  expect(mayFollow(state, state)).toBe(true);
});

test.each(STATES)('no state is listed twice behind %s', (state) => {
  expect(new Set(TRANSITIONS[state]).size).toBe(TRANSITIONS[state].length);
});

test.each(STATES)('every state can be reached from %s, so that no context is stuck', (state) => {
  expect([...reachable(state)].sort()).toEqual([...STATES].sort());
});

test.each(STATES.filter((state) => !ends.includes(state)))(
  'a job that ends may leave %s for any end state',
  (state) => {
    for (const end of ends) expect(mayFollow(state, end)).toBe(true);
  },
);

test('no state is followed by a transient state except those that a model call passes through', () => {
  const before = STATES.filter((state) => TRANSITIONS[state].some((next) => isFleeting(next)));
  expect(before).toEqual(['AwaitingLLMResponse', 'StreamingLLMResponse']);
});

test('a job begins only where none is active', () => {
  const before = STATES.filter((state) => TRANSITIONS[state].includes('ProcessingUserMessage'));
  expect(before).toEqual(['Idle', 'PermanentFailure', 'Stopped']);
});

test.each<[DurableState, string, number, DurableState]>([
  ['Idle', 'runnable', 1, 'ProcessingUserMessage'],
  ['PermanentFailure', 'runnable', 2, 'ProcessingUserMessage'],
  ['Idle', 'runnable', 0, 'Idle'],
  ['Idle', 'idle', 1, 'Idle'],
  ['Stopped', 'runnable', 1, 'Stopped'],
  ['TransientFailure', 'waiting', 1, 'TransientFailure'],
  ['ExecutingTools', 'runnable', 1, 'ExecutingTools'],
])('stored %s, %s with %i queued is shown as %s', (stored, status, queued, shown) => {
  expect(shownState(stored, status, queued)).toBe(shown);
});

function isFleeting(state: State): boolean {
  return (FLEETING as readonly State[]).includes(state);
}
