// What a context feed decides, without services: whatever the bus loses and whenever the database answers, each subscriber gets
// every entry once and in order, and text that adds up to what is stored.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ProcessId } from '../../../src/core/ids.ts';
import { ownerToNotify } from '../../../src/events/feed/asking.ts';
import { advance } from '../../../src/events/feed/feed.ts';
import { newFeed, type FeedEvent, type FeedState } from '../../../src/events/feed/state.ts';
import { id } from '../../core/builders.ts';
import { addUp } from '../sse-client.ts';
import { CONTEXT, openWorld, type Client, type World } from './world.ts';

/** Steps of the writer for one message: its frames, and the commit. */
const MESSAGE = 7;

const steps = (world: World, count: number, isLost = false): void => {
  for (let left = count; left > 0; left -= 1) world.write(isLost);
};

const seqs = ({ told }: Client): number[] => told.flatMap(({ seq }) => (seq === null ? [] : [seq]));

const textsOf = ({ told }: Client): Map<string, { text: string }> =>
  addUp(told.map(({ seq, name, data }) => ({ id: seq, event: name, data })));

/** What a client may rely on, once everything has come to rest. */
function expectComplete(world: World, client: Client): void {
  const { headSeq } = world.head();
  const expected = Array.from({ length: headSeq - client.position }, (_, at) => client.position + 1 + at);
  expect(seqs(client)).toEqual(expected);
}

function expectTexts(world: World, client: Client): void {
  for (const [message, { text }] of textsOf(client)) {
    const stored = world.stored.texts.get(message);
    if (stored !== undefined) expect({ message, text }).toEqual({ message, text: stored.text });
  }
  const completed = new Set<unknown>();
  for (const { name, data } of client.told) {
    if (name === 'MessageCompleted') completed.add(data['message_id']);
    else expect(completed).not.toContain(data['message_id']);
  }
}

type Op = { kind: string; flag: boolean; at: number };

const ops = (...kinds: string[]): fc.Arbitrary<Op[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), flag: fc.boolean(), at: fc.nat(3) }), {
    maxLength: 150,
    size: 'max',
  });

/** `flag`: what is published gets lost, or the read fails. */
function play(world: World, played: readonly Op[], fails: boolean): void {
  for (const { kind, flag, at } of played) {
    if (kind === 'write') world.write(flag && at > 1);
    if (kind === 'snapshot') world.snapshot(flag);
    if (kind === 'answer') world.answer(at, at === 3 ? 'early' : fails && flag ? 'fails' : 'late');
    if (kind === 'poll') world.take({ kind: 'polled', head: world.head() });
    if (kind === 'lost') world.take({ kind: 'lost' });
    if (kind === 'flush') world.flush();
    if (kind === 'attach' && world.clients.length < 4) world.attach();
    const leaver = world.clients[at];
    if (kind === 'detach' && leaver !== undefined) world.detach(leaver);
  }
  world.settle();
}

describe('whatever the bus loses', () => {
  const all = ['write', 'write', 'write', 'write', 'answer', 'answer', 'snapshot', 'poll', 'flush'];

  test('each subscriber gets every entry once and in order, and texts as they are stored', () => {
    fc.assert(
      fc.property(ops(...all, 'attach', 'detach', 'lost'), (played) => {
        const world = openWorld();
        world.attach();
        play(world, played, false);
        for (const client of world.clients) {
          expectComplete(world, client);
          expectTexts(world, client);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('and although reads fail, no entry is missing or repeated', () => {
    fc.assert(
      fc.property(ops(...all, 'attach', 'detach'), (played) => {
        const world = openWorld();
        world.attach();
        play(world, played, true);
        for (const client of world.clients) expectComplete(world, client);
      }),
      { numRuns: 300 },
    );
  });

  test('at rest nothing is known that was not delivered, and nothing waits', () => {
    fc.assert(
      fc.property(ops(...all, 'attach', 'detach'), (played) => {
        const world = openWorld();
        play(world, played, true);
        const { tail, known, reading, check, deferredFrames } = world.state;
        if (tail >= 0) expect(tail).toBe(world.head().headSeq);
        expect(known).toBeLessThanOrEqual(tail);
        expect({ reading, check, deferredFrames }).toEqual({
          reading: null,
          check: null,
          deferredFrames: [],
        });
      }),
      { numRuns: 300 },
    );
  });
});

test('a bus that loses nothing costs no read but the first check', () => {
  const world = openWorld();
  const client = world.attach();
  world.write(false);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['check']);
  world.answer(0);
  steps(world, 3 * MESSAGE - 1);
  world.flush();
  expect(world.reads).toEqual([]);
  expect(world.resyncs).toBe(0);
  expect(seqs(client)).toEqual([1, 2, 3, 4, 5, 6]);
  expectTexts(world, client);
});

test('a lost commit is read once the next message begins, with the rest of its text before it', () => {
  const world = openWorld();
  const client = world.attach();
  world.write(false);
  world.answer(0);
  steps(world, 2);
  steps(world, MESSAGE - 3, true);
  expect(client.told).toEqual([]);
  steps(world, 2);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_head']);
  world.answer(0);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_page']);
  world.answer(0);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_answer']);
  world.answer(0);
  world.flush();
  expect(world.resyncs).toBe(1);
  expect(client.told.map(({ name }) => name)).toEqual([
    'StateChanged',
    'ContentDelta',
    'ContentDelta',
    'ContentSnapshot',
    'MessageCompleted',
    'JobFinished',
    'StateChanged',
    'ContentDelta',
  ]);
});

test('each message that begins while PostgreSQL is read is preceded by the whole text of the one before', () => {
  const world = openWorld();
  const client = world.attach();
  world.write(false);
  world.answer(0);
  steps(world, 3);
  steps(world, MESSAGE - 4, true);
  steps(world, 4);
  world.answer(0);
  world.answer(0);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_answer']);
  // While the text of the first message is read, the last word and the commit of the second one get lost.
  steps(world, MESSAGE - 4, true);
  world.write(false);
  while (world.reads.length > 0) world.answer(0);
  world.flush();
  expect(seqs(client)).toEqual([1, 2, 3, 4]);
  expect([...textsOf(client).values()].map(({ text }) => text)).toEqual(['one two three four', 'one two three four']);
});

test('a commit that is published while the head is read is read next', () => {
  const world = openWorld();
  const client = world.attach();
  world.write(false);
  world.answer(0);
  steps(world, MESSAGE - 1, true);
  world.write(false);
  // The head as it was before the second commit.
  const { headSeq, owner, epoch } = world.head();
  steps(world, MESSAGE - 1);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_head']);
  world.reads.pop();
  world.take({ kind: 'head_read', head: { headSeq: headSeq - 2, owner, epoch } });
  while (world.reads.length > 0) world.answer(0);
  expect(seqs(client)).toEqual([1, 2, 3, 4]);
});

test('a frame of a message that was stored before the first subscriber came is dropped', () => {
  const world = openWorld();
  steps(world, 4, true);
  const client = world.attach();
  steps(world, 2);
  world.write(true);
  expect(world.reads.map(({ kind }) => kind)).toEqual(['check']);
  world.answer(0);
  world.flush();
  expect(client.told).toEqual([]);
});

test('what arrives during the check is sent after it, in order', () => {
  const world = openWorld();
  const client = world.attach();
  steps(world, MESSAGE);
  expect(client.told).toEqual([]);
  world.answer(0, 'early');
  world.flush();
  expect([...textsOf(client).values()].map(({ text }) => text)).toEqual(['one two three four']);
  expect(seqs(client)).toEqual([1, 2]);
});

test('a page that was read before the last commit does not move the tail back', () => {
  const world = openWorld();
  const client = world.attach();
  steps(world, MESSAGE, true);
  world.take({ kind: 'polled', head: world.head() });
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_page']);
  steps(world, MESSAGE);
  world.answer(0, 'early');
  expect(world.reads.map(({ kind }) => kind)).toEqual(['read_page']);
  world.answer(0);
  expect(world.reads.filter(({ kind }) => kind !== 'check')).toEqual([]);
  expect(world.state.tail).toBe(4);
  expect(seqs(client)).toEqual([1, 2, 3, 4]);
});

test('who joins in the middle of a message gets its text so far, then the rest', () => {
  const world = openWorld();
  const early = world.attach();
  world.write(false);
  world.answer(0);
  steps(world, 2);
  const late = world.attach();
  steps(world, MESSAGE - 3);
  world.flush();
  expect(late.told.map(({ name }) => name).slice(0, 2)).toEqual(['StateChanged', 'ContentSnapshot']);
  expect([...textsOf(late)]).toEqual(
    [...textsOf(early)].map(([message, { text }]) => [message, expect.objectContaining({ text })]),
  );
});

test('a gap is closed by a snapshot, which is requested again at most every 150 ms', () => {
  const world = openWorld();
  const client = world.attach();
  world.write(false);
  world.answer(0);
  world.asked = 0;
  world.write(false);
  for (let left = 3; left > 0; left -= 1) world.take({ kind: 'polled', head: world.head() });
  world.write(true);
  world.write(false);
  expect(world.asked).toBe(1);
  world.write(false);
  expect(world.asked).toBe(1);
  world.snapshot(false);
  world.flush();
  expect([...textsOf(client).values()][0]?.text).toBe('one two three four');
  expect(world.state.isMissing).toBe(false);
});

describe('after one event', () => {
  const owner = id<ProcessId>(91);
  const subscribed: FeedState = { ...newFeed(CONTEXT), tail: 3, known: 3, isSubscribed: true };
  const progress = (headSeq: number): FeedEvent => ({
    kind: 'progress',
    progress: { contextId: CONTEXT, headSeq },
  });
  const polled = (headSeq: number, epoch = 1): FeedEvent => ({
    kind: 'polled',
    head: { headSeq, owner, epoch },
  });

  test.each<[string, FeedState, FeedEvent, string[]]>([
    ['nothing is done before the head was read', newFeed(CONTEXT), progress(3), []],
    ['the first head is the tail, without a read', newFeed(CONTEXT), polled(3), []],
    ['a new holder is asked for a snapshot', subscribed, polled(3), ['ask']],
    ['a higher head is read', { ...subscribed, holder: { owner, epoch: 1 } }, polled(5), ['count_resync', 'read_page']],
    ['progress without its entries is read', subscribed, progress(4), ['count_resync', 'read_page']],
    ['progress that is known is ignored', subscribed, progress(3), []],
    ['progress of a deleted context makes it read the head', subscribed, progress(0), ['read_head']],
    [
      'without subscribers nothing is read',
      { ...subscribed, isSubscribed: false },
      polled(9),
      ['count_resync', 'continue'],
    ],
    [
      'a second read does not begin before the first has ended',
      { ...subscribed, reading: { kind: 'head' } },
      progress(7),
      [],
    ],
    [
      'a deleted context ends its subscribers',
      { ...subscribed, reading: { kind: 'head' } },
      { kind: 'head_read', head: null },
      ['end'],
    ],
    [
      'the holder is asked again when messages were lost',
      { ...subscribed, holder: { owner, epoch: 1 }, askedAt: 999 },
      { kind: 'lost' },
      ['ask'],
    ],
  ])('%s', (_, state, event, effects) => {
    expect(advance(state, event, 1_000).effects.map(({ kind }) => kind)).toEqual(effects);
  });

  test('the head of an older lease does not replace the holder', () => {
    const state: FeedState = { ...subscribed, holder: { owner, epoch: 4 } };
    expect(advance(state, polled(3, 3), 1_000).state.holder.epoch).toBe(4);
    expect(ownerToNotify(advance(state, { kind: 'ended' }, 1_000).state)).toBeNull();
  });

  test('frames beyond the limit of a read are replaced by a request for a snapshot', () => {
    const of = { jobId: id<never>(1), messageId: id<never>(2), attempt: 1, epoch: 1 };
    let state: FeedState = { ...subscribed, reading: { kind: 'head' } };
    for (let sequence = 0; sequence <= 1_000; sequence += 1) {
      const frame = { kind: 'delta', of, channel: 'text', delta: 'x', sequence } as const;
      state = advance(state, { kind: 'frame', frame }, 1_000).state;
    }
    expect(state.deferredFrames).toEqual([]);
    expect(state.isMissing).toBe(true);
  });
});
