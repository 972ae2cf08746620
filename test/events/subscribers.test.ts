// Frames without an id are gathered for all subscribers of a context: one list for all of them, in its place among the
// entries.
import { beforeEach, expect, test } from 'vitest';
import type { FleetingEvent, NumberedEvent, StreamEvent } from '../../src/core/stream/stream-event.ts';
import { Subscribers } from '../../src/events/subscribers.ts';
import type { Subscriber } from '../../src/events/subscriber.ts';
import { Pace } from '../../src/events/pace.ts';

type RecordingSubscriber = Subscriber & { lists: (readonly StreamEvent[])[] };

let sendNow: () => void;
let listeners: Subscribers;
beforeEach(() => {
  let due: (() => void)[] = [];
  sendNow = () => due.splice(0).forEach((run) => run());
  listeners = new Subscribers(new Pace({ now: () => 0, after: (_, run) => void due.push(run) }));
});

function recordingSubscriber(): RecordingSubscriber {
  const lists: (readonly StreamEvent[])[] = [];
  return {
    lists,
    send: (events) => void (events.length > 0 && lists.push(events)),
    drained: async () => undefined,
    end: () => void lists.push([]),
  };
}

function listening(position = 0, tail = 0): RecordingSubscriber {
  const one = recordingSubscriber();
  listeners.add(one, position, tail);
  return one;
}

const words = (delta: string): FleetingEvent => ({ seq: null, name: 'ContentDelta', data: { delta } });
const entry = (seq: number): NumberedEvent => ({ seq, name: 'ToolCallStarted', data: {} });
const received = ({ lists }: RecordingSubscriber): unknown[][] =>
  lists.map((list) => list.map(({ seq, data }) => seq ?? data['delta']));

test('gathered frames are sent in one list, the same to all', () => {
  const all = [listening(), listening(), listening()];
  for (const delta of ['a', 'b', 'c']) listeners.broadcast([words(delta)]);
  expect(all.flatMap(received)).toEqual([]);
  sendNow();
  for (const one of all) {
    expect(received(one)).toEqual([['a', 'b', 'c']]);
    expect(one.lists[0]).toBe(all[0]?.lists[0]);
  }
  sendNow();
  expect(all.map(({ lists }) => lists.length)).toEqual([1, 1, 1]);
});

test('entries are sent as they come, after the frames gathered before them and the same to all', () => {
  const all = [listening(), listening()];
  listeners.broadcast([words('a')]);
  listeners.deliver([entry(1), entry(2)], 2);
  listeners.broadcast([words('b')]);
  expect(all.map(received)).toEqual([
    [['a'], [1, 2]],
    [['a'], [1, 2]],
  ]);
  expect(all[0]?.lists[1]).toBe(all[1]?.lists[1]);
  sendNow();
  expect(all.map((one) => received(one).at(-1))).toEqual([['b'], ['b']]);
});

test('a subscriber that joins meanwhile receives all later frames', () => {
  const early = listening();
  listeners.broadcast([words('a'), words('b')]);
  const late = listening();
  listeners.broadcast([words('c')]);
  sendNow();
  expect(received(early)).toEqual([['a', 'b', 'c']]);
  expect(received(late)).toEqual([['c']]);
  const latest = listening();
  listeners.broadcast([words('d')]);
  sendNow();
  expect([early, late, latest].map((one) => received(one).at(-1))).toEqual([['d'], ['d'], ['d']]);
});

test('a subscriber ahead of the tail receives none of the frames gathered before the tail reaches it', () => {
  const ahead = listening(2, 0);
  const level = listening();
  listeners.broadcast([words('a')]);
  sendNow();
  listeners.broadcast([words('b')]);
  expect(listeners.deliver([entry(1), entry(2)], 2)).toEqual([ahead]);
  listeners.broadcast([words('c')]);
  sendNow();
  expect(received(level)).toEqual([['a'], ['b'], [1, 2], ['c']]);
  expect(received(ahead)).toEqual([['c']]);
});

test('a subscriber that leaves receives nothing more, and gathered frames are sent before the end', () => {
  const [gone, stays] = [listening(), listening()];
  listeners.broadcast([words('a')]);
  listeners.delete(gone);
  listeners.end();
  expect(received(gone)).toEqual([]);
  expect(received(stays)).toEqual([['a'], []]);
  sendNow();
  expect(received(stays)).toEqual([['a'], []]);
});

test('frames without a subscriber are not kept', () => {
  listeners.broadcast([words('a')]);
  const late = listening();
  sendNow();
  expect(received(late)).toEqual([]);
});
