// When the stream hub polls: one timer or one poll at a time, and neither of them without use.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  advancePolling,
  NO_POLLING,
  type Polling,
  type PollingEffect,
  type PollingEvent,
} from '../../src/events/polling.ts';

const state = (phase: Polling['phase'], isUsed = true, isClosed = false): Polling => ({
  phase,
  isUsed,
  isClosed,
});
const use = (isUsed: boolean): PollingEvent => ({ kind: 'use', isUsed });

test.each<[string, Polling, PollingEvent, Polling['phase'], PollingEffect[]]>([
  ['the first use sets the timer', NO_POLLING, use(true), 'waiting', ['set_timer']],
  ['a further use changes nothing', state('waiting'), use(true), 'waiting', []],
  ['the end of all use clears the timer', state('waiting'), use(false), 'idle', ['clear_timer']],
  ['the timer makes it poll', state('waiting'), { kind: 'due' }, 'asking', ['poll']],
  ['a use during a poll sets no timer', state('asking', false), use(true), 'asking', []],
  ['the answer sets the timer again', state('asking'), { kind: 'answered' }, 'waiting', ['set_timer']],
  ['the answer sets no timer without use', state('asking', false), { kind: 'answered' }, 'idle', []],
  ['a loss makes it poll at once', state('waiting'), { kind: 'lost' }, 'asking', ['clear_timer', 'poll']],
  ['a loss during a poll starts no second one', state('asking'), { kind: 'lost' }, 'asking', []],
  ['a loss without use starts none', NO_POLLING, { kind: 'lost' }, 'idle', []],
  ['closing clears the timer', state('waiting'), { kind: 'closed' }, 'idle', ['clear_timer']],
  ['no poll follows one that ends after closing', state('asking', true, true), { kind: 'answered' }, 'idle', []],
])('%s', (_, before, event, phase, effects) => {
  const { state: after, effects: done } = advancePolling(before, event);
  expect({ phase: after.phase, effects: done }).toEqual({ phase, effects });
});

test('whatever happens, there is one timer or one poll as long as there is use, and none after closing', () => {
  const event = fc.oneof(
    fc.boolean().map(use),
    fc.constantFrom<PollingEvent>({ kind: 'lost' }, { kind: 'answered' }, { kind: 'due' }),
  );
  fc.assert(
    fc.property(fc.array(event), (events) => {
      let polling = NO_POLLING;
      const open = { timers: 0, polls: 0 };
      const take = (one: PollingEvent): void => {
        if (one.kind === 'due' && open.timers === 0) return;
        if (one.kind === 'answered' && open.polls === 0) return;
        if (one.kind === 'due') open.timers -= 1;
        if (one.kind === 'answered') open.polls -= 1;
        const { state: after, effects } = advancePolling(polling, one);
        polling = after;
        for (const effect of effects) {
          if (effect === 'set_timer') open.timers += 1;
          if (effect === 'clear_timer') open.timers -= 1;
          if (effect === 'poll') open.polls += 1;
        }
        expect(open.timers).toBe(polling.phase === 'waiting' ? 1 : 0);
        expect(open.polls).toBe(polling.phase === 'asking' ? 1 : 0);
        if (polling.isUsed && !polling.isClosed) expect(open.timers + open.polls).toBe(1);
      };
      events.forEach(take);
      take({ kind: 'closed' });
      take({ kind: 'answered' });
      expect(open).toEqual({ timers: 0, polls: 0 });
    }),
  );
});
