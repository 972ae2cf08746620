// A call that a person reported as happened, in a small world; how it is broken, and part of the expected violation.
import { event } from './builders.ts';
import { soundWorld } from './sound-world.ts';
import type { OutcomeReport } from './world.ts';

export function soundOutcome() {
  const { world, call } = soundWorld();
  const reported: OutcomeReport = { contextId: 'c', callId: 'call', outcome: 'happened' };
  const asked = event(30, 'OutcomeUnknown', { tool_call_id: 'call' });
  const published = event(31, 'OutcomeResolved', { tool_call_id: 'call', outcome: 'happened' });
  world.reported.push(reported);
  world.events.push(asked, published);
  return { world, call, reported, asked, published };
}

type Sound = ReturnType<typeof soundOutcome>;

export const BROKEN_OUTCOMES: readonly [string, (sound: Sound) => void, RegExp][] = [
  ['a reported outcome is not published', ({ world }) => void world.events.pop(), /published outcomes: none/],
  [
    'a reported outcome is published as another one',
    ({ published }) => Object.assign(published, { data: { tool_call_id: 'call', outcome: 'tell' } }),
    /published outcomes: tell/,
  ],
  [
    'a reported outcome is published twice',
    ({ world, published }) => void world.events.push(published),
    /published outcomes: happened, happened;/,
  ],
  [
    'an outcome is reported without being asked for',
    ({ world, asked }) => void world.events.splice(world.events.indexOf(asked), 1),
    /asked 0 times, answered 1 times/,
  ],
  ['no person answered', ({ world }) => void world.reported.pop(), /continued without an answer/],
  [
    'it happened, and is not done',
    ({ call }) => Object.assign(call, { status: 'unknown' }),
    /reported outcome is happened, and it is unknown/,
  ],
  [
    'its outcome is unknown, and it is done',
    ({ reported }) => Object.assign(reported, { outcome: 'tell' }),
    /reported outcome is unknown/,
  ],
];
