// Reports of model calls: when they were made, once for each that was answered or failed.
import { expect, test } from 'vitest';
import { timed } from '../../src/agent/model/timed.ts';
import { play } from './rig.ts';

const received: string[] = [];
const listener = {
  started: () => void received.push('started'),
  text: (delta: string) => void received.push(delta),
  thinking: (delta: string) => void received.push(delta),
};

test('a call is timed from its start to its first byte, and its subscriber still receives the deltas', () => {
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
  expect(received).toEqual(['started', 'started', 'hm', 'hi']);
});

test('a clock that is set back during a call never puts the first byte before the call', () => {
  let now = 100;
  const call = timed({ now: () => now }, listener);
  now = 90;
  call.listener.started();
  expect(call.times()).toEqual({ calledAt: 100, firstByteAt: 100 });
});

test('whichever append is refused, every answer and every failure is reported once', async () => {
  const reported = async (refused: number): Promise<string[]> => {
    const { store } = await play({
      outcome: async (count, commit) => (count === refused ? { kind: 'stale' } : commit()),
    });
    const ids = store.current.history.flatMap(({ id, role }) => (role === 'assistant' ? [id] : []));
    const answered = store.modelCalls.flatMap((call) => (call.kind === 'answered' ? [call.messageId] : []));
    expect(answered).toEqual(ids);
    return store.modelCalls.map(({ kind, attempt }) => `${kind} ${attempt}`);
  };
  const { appends } = await play();
  for (let refused = 0; refused <= appends; refused += 1) {
    expect(await reported(refused)).toEqual(['answered 1', 'answered 1', 'failed 1', 'answered 2']);
  }
});
