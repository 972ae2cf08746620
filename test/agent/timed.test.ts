import { expect, test } from 'vitest';
import { timed } from '../../src/agent/timed.ts';

const heard: string[] = [];
const listener = {
  started: () => void heard.push('started'),
  text: (delta: string) => void heard.push(delta),
  thinking: (delta: string) => void heard.push(delta),
};

test('a call is timed from when it is made to its first byte, and its listener hears all the same', () => {
  let now = 100;
  const call = timed({ now: () => now }, listener);
  now = 150;
  expect(call.times()).toEqual({ calledAt: 100, firstByteAt: null });
  call.listener.started();
  now = 200;
  call.listener.started();
  call.listener.thinking('hm');
  call.listener.text('hi');
  expect(call.times()).toEqual({ calledAt: 100, firstByteAt: 150 });
  expect(heard).toEqual(['started', 'started', 'hm', 'hi']);
});

test('a clock that is set back in between moves no first byte before its call', () => {
  let now = 100;
  const call = timed({ now: () => now }, listener);
  now = 90;
  call.listener.started();
  expect(call.times()).toEqual({ calledAt: 100, firstByteAt: 100 });
});
