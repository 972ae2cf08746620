// The partial message, received with losses: the published deltas add up, and late ones are ignored.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId, JobId, MessageId } from '../../../src/core/ids.ts';
import {
  amend,
  catchUp,
  follow,
  isSettled,
  type AnswerId,
  type PartialMessage,
  type DeltaFrame,
  type View,
} from '../../../src/core/stream/partial-message.ts';
import type { FleetingEvent } from '../../../src/core/stream/stream-event.ts';
import { addUp } from '../../events/sse-client.ts';
import { NOW, id } from '../builders.ts';

const CONTEXT = id<ContextId>(90);
const of = (attempt: number, over: Partial<AnswerId> = {}): AnswerId => ({
  jobId: id<JobId>(1),
  messageId: id<MessageId>(2),
  attempt,
  epoch: attempt,
  ...over,
});

/** One model call as its run publishes it: every delta, and the snapshot after it. */
function framesOf(words: readonly string[], answer: AnswerId): { frame: DeltaFrame; after: PartialMessage }[] {
  const state = 'StreamingLLMResponse' as const;
  const none = { text: '', sequence: -1 };
  let partial: PartialMessage = { of: answer, state, firstTokenAt: NOW, text: none, thinking: none };
  const steps: { frame: DeltaFrame; after: PartialMessage }[] = [
    { frame: { kind: 'began', of: answer, at: NOW }, after: partial },
  ];
  for (const [sequence, delta] of words.entries()) {
    partial = { ...partial, text: { text: partial.text.text + delta, sequence } };
    steps.push({
      frame: { kind: 'delta', of: answer, channel: 'text', delta, sequence },
      after: partial,
    });
  }
  const whole: PartialMessage = { ...partial, state: 'ProcessingLLMResponse' };
  const ended = { textSequence: words.length - 1, thinkingSequence: -1 };
  steps.push({ frame: { kind: 'ended', of: answer, ...ended }, after: whole });
  return steps;
}

type Listening = { view: View | null; received: FleetingEvent[] };

/** `lost`: which delta frames are lost; a snapshot is requested after a gap, and may be lost as well. */
function receive(listening: Listening, steps: ReturnType<typeof framesOf>, lost: (at: number) => boolean): Listening {
  let { view } = listening;
  const received = [...listening.received];
  const take = (frame: DeltaFrame): boolean => {
    const outcome = follow(CONTEXT, view, frame);
    if (outcome.kind !== 'applied') return outcome.kind === 'missed';
    view = outcome.view;
    received.push(...outcome.events);
    return false;
  };
  for (const [at, { frame, after }] of steps.entries()) {
    if (lost(2 * at)) continue;
    if (take(frame) && !lost(2 * at + 1)) take({ kind: 'snapshot', partial: after });
  }
  return { view, received };
}

const shownBy = (received: readonly FleetingEvent[]): { attempt: number; text: string } | undefined =>
  addUp(received.map(({ name, data }) => ({ id: null, event: name, data }))).get(id(2));

const words = fc.array(fc.string({ minLength: 1 }), { maxLength: 12 });
const losses = fc.infiniteStream(fc.boolean()).map((stream) => {
  const drawn = new Map<number, boolean>();
  return (at: number): boolean => {
    if (!drawn.has(at)) drawn.set(at, stream.next().value ?? false);
    return drawn.get(at) ?? false;
  };
});

test('whatever is lost, the published deltas add up to the message once it is amended', () => {
  fc.assert(
    fc.property(words, words, losses, losses, (first, second, lostOfFirst, lostOfSecond) => {
      const one = receive({ view: null, received: [] }, framesOf(first, of(1)), lostOfFirst);
      const two = receive(one, framesOf(second, of(2)), lostOfSecond);
      const text = second.join('');
      const received = two.view === null ? two.received : [...two.received, ...amend(CONTEXT, two.view, text, 2)];
      const shown = shownBy(received);
      if (shown !== undefined) expect(shown.text).toBe(text);
      if (two.view !== null && isSettled(two.view) && two.view.of.attempt === 2)
        expect(amend(CONTEXT, two.view, text, 2)).toEqual([]);
    }),
  );
});

test('a subscriber that joins at any time receives what all others have', () => {
  fc.assert(
    fc.property(words, fc.nat(12), (texts, moment) => {
      const steps = framesOf(texts, of(1));
      const before = receive({ view: null, received: [] }, steps.slice(0, moment), () => false);
      const joined = before.view === null ? [] : catchUp(CONTEXT, before.view);
      const rest = receive({ view: before.view, received: [] }, steps.slice(moment), () => false).received;
      expect(shownBy([...joined, ...rest])?.text ?? '').toBe(texts.join(''));
    }),
  );
});

describe('a late frame', () => {
  const view = (attempt: number): View => {
    const { view: outcome } = receive({ view: null, received: [] }, framesOf(['a', 'b'], of(attempt)), () => false);
    if (outcome === null) throw new Error('no frame was received');
    return outcome;
  };

  test('of an older attempt or an older lease is ignored', () => {
    for (const { frame } of framesOf(['x', 'y', 'z'], of(1))) {
      expect(follow(CONTEXT, view(2), frame).kind).toBe('stale');
      expect(follow(CONTEXT, view(2), { kind: 'snapshot', partial: { ...view(1) } }).kind).toBe('stale');
    }
    const zombie = of(3, { epoch: 1 });
    expect(follow(CONTEXT, view(2), { kind: 'began', of: zombie, at: NOW }).kind).toBe('stale');
  });

  test('or one that is known already is ignored, too', () => {
    for (const { frame, after } of framesOf(['a', 'b'], of(2))) {
      expect(follow(CONTEXT, view(2), frame).kind).toBe('stale');
      expect(follow(CONTEXT, view(2), { kind: 'snapshot', partial: after }).kind).toBe('stale');
    }
  });
});

test('an attempt that is begun again continues the count, and its text starts from the beginning', () => {
  const steps = framesOf(['a', 'b'], of(1)).slice(0, 3);
  const { view } = receive({ view: null, received: [] }, steps, () => false);
  const again: PartialMessage = {
    of: of(1),
    state: 'StreamingLLMResponse',
    firstTokenAt: NOW,
    text: { text: '', sequence: 2 },
    thinking: { text: '', sequence: -1 },
  };
  const broke = follow(CONTEXT, view, { kind: 'broke', of: of(1) });
  if (broke.kind !== 'applied') throw new Error(broke.kind);
  expect(catchUp(CONTEXT, broke.view)).toEqual([]);
  const outcome = follow(CONTEXT, broke.view, { kind: 'snapshot', partial: again });
  expect(outcome).toMatchObject({
    kind: 'applied',
    events: [{ name: 'StateChanged' }, { name: 'ContentSnapshot', data: { text: '', sequence: 2 } }],
  });
});

test('missed thinking arrives as one delta', () => {
  const thinking = (sequence: number, text: string): PartialMessage => ({
    of: of(1),
    state: 'StreamingLLMResponse',
    firstTokenAt: NOW,
    text: { text: '', sequence: -1 },
    thinking: { text, sequence },
  });
  const first = follow(CONTEXT, null, { kind: 'snapshot', partial: thinking(1, 'hm') });
  if (first.kind !== 'applied') throw new Error(first.kind);
  const late: DeltaFrame = { kind: 'delta', of: of(1), channel: 'thinking', delta: '!', sequence: 4 };
  expect(follow(CONTEXT, first.view, late)).toEqual({ kind: 'missed' });
  expect(follow(CONTEXT, first.view, { kind: 'snapshot', partial: thinking(4, 'hm, well!') })).toMatchObject({
    events: [{ name: 'ThinkingDelta', data: { delta: ', well!', sequence: 4 } }],
  });
});
