// A call of which somebody said that it happened, in a small world; how it is broken, and words of what the check finds.
import { event } from './builders.ts';
import { soundWorld } from './sound-world.ts';
import type { Said } from './world.ts';

export function soundOutcome() {
  const { world, call } = soundWorld();
  const said: Said = { contextId: 'c', callId: 'call', outcome: 'happened' };
  const asked = event(30, 'OutcomeUnknown', { tool_call_id: 'call' });
  const told = event(31, 'OutcomeResolved', { tool_call_id: 'call', outcome: 'happened' });
  world.said.push(said);
  world.events.push(asked, told);
  return { world, call, said, asked, told };
}

type Sound = ReturnType<typeof soundOutcome>;

export const BROKEN_OUTCOMES: readonly [string, (sound: Sound) => void, RegExp][] = [
  ['what was said is not told', ({ world }) => void world.events.pop(), /told that nothing was said/],
  [
    'what was said is told otherwise',
    ({ told }) => Object.assign(told, { data: { tool_call_id: 'call', outcome: 'tell' } }),
    /told that tell was said/,
  ],
  [
    'what was said is told twice',
    ({ world, told }) => void world.events.push(told),
    /happened, happened was said/,
  ],
  [
    'it is answered without being asked',
    ({ world, asked }) => void world.events.splice(world.events.indexOf(asked), 1),
    /asked 0 times, answered 1 times/,
  ],
  ['nobody answered', ({ world }) => void world.said.pop(), /went on without an answer/],
  [
    'it happened, and is not done',
    ({ call }) => Object.assign(call, { status: 'unknown' }),
    /said to have happened, and is unknown/,
  ],
  [
    'nobody knows, and it is done',
    ({ said }) => Object.assign(said, { outcome: 'tell' }),
    /nobody knows what became of it/,
  ],
];
