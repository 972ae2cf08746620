// The frames that a run publishes: none without subscribers; the first text at once, the rest gathered; a full snapshot
// on request.
import { beforeEach, expect, test, vi } from 'vitest';
import { withChanges } from '../../../src/bus/change-publisher.ts';
import type { Append } from '../../../src/core/run/append.ts';
import type { ContextId, JobId, MessageId, ProcessId } from '../../../src/core/ids.ts';
import { answer } from '../../../src/core/transitions/answer.ts';
import { settle } from '../../../src/core/transitions/settle.ts';
import { SubscriberRegistry } from '../../../src/workers/process/subscriber-registry.ts';
import { StreamPublisher } from '../../../src/workers/run/stream-publisher.ts';
import { NOW, committed, given, id, job, running, settings } from '../../core/builders.ts';

const CONTEXT = id<ContextId>(90);
const OF = { jobId: id<JobId>(1), messageId: id<MessageId>(2), attempt: 1, epoch: 3 };

// oxlint-disable-next-line typescript/no-explicit-any -- `expect` checks the published frames
let published: any[] = [];
let now = NOW;
let subscribers: SubscriberRegistry;
let publisher: StreamPublisher;
beforeEach(() => {
  published = [];
  now = NOW;
  subscribers = new SubscriberRegistry();
  const bus = withChanges({
    publish: (_, message) => void published.push(structuredClone(message)),
    subscribe: async () => () => undefined,
    onLost: () => () => undefined,
    close: async () => undefined,
  });
  publisher = new StreamPublisher(bus, subscribers, {
    contextId: CONTEXT,
    owner: id<ProcessId>(7),
    clock: { now: () => now },
  });
});

const commit = (move: Append, claims = false): void => publisher.committed(move, committed(move, running(), 4), claims);
const ask = (): void => subscribers.receive({ listening: [], asking: [CONTEXT], forMs: 10_000 });

test('without subscribers: the claims, and that jobs end or wait', () => {
  const now = running();
  commit({ ...answer(now, { job: job(), settings: settings() }, { ...given(), id: id(2) }, NOW) });
  const listener = publisher.listen(OF);
  listener.started();
  listener.text('hello');
  listener.ended(true);
  expect(published).toEqual([]);
  commit(answer(now, { job: job(), settings: settings() }, { ...given(), id: id(2) }, NOW), true);
  expect(published).toEqual([{ contextId: CONTEXT, headSeq: 5, holder: { owner: id(7), epoch: now.lease.epoch } }]);
  commit(settle(now, job(), { status: 'cancelled', reason: null }));
  // On the channel of news of jobs alone.
  const news = { tenantId: now.lease.tenantId, contextId: CONTEXT, jobId: id(1), headSeq: 6 };
  expect(published.slice(1)).toEqual([{ ...news, status: 'ended' }]);
  const waiting = job({ status: 'waiting', retryAt: NOW + 1_000 });
  commit({ ...settle(now, job(), { status: 'cancelled', reason: null }), job: { kind: 'progress', job: waiting } });
  expect(published.slice(2)).toEqual([{ ...news, status: 'waiting' }]);
});

test('with subscribers: every entry, so that nothing has to be read', () => {
  ask();
  commit(settle(running(), job(), { status: 'cancelled', reason: null }));
  expect(published.at(-2).entries).toMatchObject([
    { seq: 5, name: 'JobFinished', data: { context_id: CONTEXT, status: 'cancelled' } },
    { seq: 6, name: 'StateChanged', data: { context_id: CONTEXT, new_state: 'Idle' } },
  ]);
});

test('the first text at once, the rest gathered, the last before the end', () => {
  vi.useFakeTimers();
  try {
    ask();
    const listener = publisher.listen(OF);
    listener.started();
    for (const word of ['a', 'b', 'c']) listener.text(word);
    listener.thinking('hm');
    const deltas = () =>
      published.map(({ kind, channel, delta, sequence }) => (kind === 'delta' ? [channel, delta, sequence] : kind));
    expect(deltas()).toEqual(['began', ['text', 'a', 0]]);
    vi.advanceTimersByTime(30);
    expect(deltas().slice(2)).toEqual([
      ['thinking', 'hm', 0],
      ['text', 'bc', 1],
    ]);
    for (const word of ['d', 'e']) listener.text(word);
    listener.ended(true);
    expect(deltas().slice(4)).toEqual([['text', 'd', 2], ['text', 'e', 3], 'ended']);
    expect(published.at(-1)).toMatchObject({ textSequence: 3, thinkingSequence: 0 });
  } finally {
    vi.useRealTimers();
  }
});

test('a snapshot request in the middle is answered with the full text and the time of the first token, and the numbers continue', () => {
  const listener = publisher.listen(OF);
  listener.started();
  now = NOW + 60_000;
  for (const word of ['a', 'b']) listener.text(word);
  ask();
  expect(published).toMatchObject([
    {
      kind: 'snapshot',
      partial: { of: OF, state: 'StreamingLLMResponse', firstTokenAt: NOW, text: { text: 'ab', sequence: 0 } },
    },
  ]);
  listener.text('c');
  expect(published[1]).toMatchObject({ kind: 'delta', delta: 'c', sequence: 1 });
  listener.ended(true);
  ask();
  expect(published.at(-1)).toMatchObject({
    partial: { state: 'ProcessingLLMResponse', text: { text: 'abc', sequence: 1 } },
  });
  published = [];
  commit(answer(running(), { job: job(), settings: settings() }, { ...given(), id: OF.messageId }, NOW));
  ask();
  expect(published.map(({ headSeq }) => headSeq)).toEqual([5, 5]);
});

test('an attempt that broke off is void; one begun again under the same number continues the count', () => {
  ask();
  const first = publisher.listen(OF);
  first.started();
  first.text('a');
  first.ended(false);
  expect(published.map(({ kind }) => kind)).toEqual(['began', 'delta', 'broke']);
  const again = publisher.listen(OF);
  again.started();
  again.text('b');
  expect(published.slice(3)).toMatchObject([
    { kind: 'snapshot', partial: { text: { text: '', sequence: 1 } } },
    { kind: 'delta', delta: 'b', sequence: 2 },
  ]);
  again.ended(false);
  const next = publisher.listen({ ...OF, attempt: 2 });
  next.started();
  expect(published.at(-1)).toMatchObject({ kind: 'began', of: { attempt: 2 } });
});

test('a call without a first byte is not published', () => {
  ask();
  publisher.listen(OF).ended(false);
  expect(published).toEqual([]);
});
