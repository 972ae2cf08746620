// A context as the feed knows it, without services: a writer, a bus that may lose messages, and a database that answers when it is
// told to. What the feed decides is carried out as `ContextFeed` does it.
import type { Progress } from '../../../src/bus/bus.ts';
import type { ContextId, JobId, MessageId, ProcessId } from '../../../src/core/ids.ts';
import type { AnswerId, DeltaFrame, PartialMessage } from '../../../src/core/stream/partial-message.ts';
import type { NumberedEvent, StreamEvent } from '../../../src/core/stream/stream-event.ts';
import { advance } from '../../../src/events/feed/feed.ts';
import { PAGE } from '../../../src/events/feed/reading.ts';
import {
  newFeed,
  type FeedEffect,
  type FeedEvent,
  type FeedState,
  type Head,
  type StoredText,
} from '../../../src/events/feed/state.ts';
import { Pace } from '../../../src/events/pace.ts';
import type { Subscriber } from '../../../src/events/subscriber.ts';
import { Subscribers } from '../../../src/events/subscribers.ts';
import { id } from '../../core/builders.ts';

export const CONTEXT = id<ContextId>(90);
const OWNER = id<ProcessId>(91);
const WORDS = ['one ', 'two ', 'three ', 'four'];

export type Client = Subscriber & { told: StreamEvent[]; position: number; isEnded: boolean };

type Read = Extract<FeedEffect, { kind: `read_${string}` | 'check' }>;

export type World = {
  state: FeedState;
  /** What PostgreSQL holds. */
  stored: { entries: NumberedEvent[]; texts: Map<unknown, StoredText> };
  /** Pending, each with the answer as of its beginning. */
  reads: { kind: Read['kind']; effect: Read; early: FeedEvent }[];
  clients: Client[];
  resyncs: number;
  asked: number;
  take(event: FeedEvent): void;
  /** The next thing that the writer does; `isLost`: the bus loses what it publishes. */
  write(isLost: boolean): void;
  /** The snapshot that was requested, if any. */
  snapshot(isLost: boolean): void;
  head(): Head;
  /** Ends one pending read, with what was stored when it began or with what is stored now; `fails`: PostgreSQL is unavailable. */
  answer(at: number, how?: 'early' | 'late' | 'fails'): void;
  attach(): Client;
  detach(client: Client): void;
  /** Sends what was collected. */
  flush(): void;
  /** Lets everything come to rest. */
  settle(): void;
};

/** One message after another, each with a job of its own. */
function* script(): Generator<
  { frame: DeltaFrame; after: PartialMessage } | { entries: NumberedEvent[]; text: StoredText }
> {
  for (let number = 1, seq = 1; ; number += 1, seq += 2) {
    const of: AnswerId = {
      jobId: id<JobId>(1_000 + number),
      messageId: id<MessageId>(2_000 + number),
      attempt: 1,
      epoch: 1,
    };
    const none = { text: '', sequence: -1 };
    let after: PartialMessage = { of, state: 'StreamingLLMResponse', firstTokenAt: 0, text: none, thinking: none };
    yield { frame: { kind: 'began', of, at: 0 }, after };
    for (const [sequence, delta] of WORDS.entries()) {
      after = { ...after, text: { text: after.text.text + delta, sequence } };
      yield { frame: { kind: 'delta', of, channel: 'text', delta, sequence }, after };
    }
    after = { ...after, state: 'ProcessingLLMResponse' };
    yield { frame: { kind: 'ended', of, textSequence: WORDS.length - 1, thinkingSequence: -1 }, after };
    yield {
      entries: [
        { seq, name: 'MessageCompleted', data: { message_id: of.messageId } },
        { seq: seq + 1, name: 'JobFinished', data: { job_id: of.jobId } },
      ],
      text: { text: after.text.text, attempt: 1 },
    };
  }
}

export function openWorld(): World {
  const writer = script();
  let due: (() => void)[] = [];
  const pace = new Pace({ now: () => 0, after: (_, run) => void due.push(run) });
  const subscribers = new Subscribers(pace);
  let now = 0;
  let partial: PartialMessage | null = null;

  const world: World = {
    state: newFeed(CONTEXT),
    stored: { entries: [], texts: new Map() },
    reads: [],
    clients: [],
    resyncs: 0,
    asked: 0,
    take(event) {
      now += 50;
      const { state, effects } = advance(world.state, event, now);
      world.state = state;
      for (const effect of effects) carryOut(effect);
    },
    write(isLost) {
      const { value } = writer.next();
      if ('frame' in value) {
        partial = value.after;
        if (!isLost) world.take({ kind: 'frame', frame: value.frame });
        return;
      }
      const { entries, text } = value;
      partial = null;
      world.stored.entries.push(...entries);
      world.stored.texts.set(entries[0]?.data['message_id'], text);
      const { headSeq, epoch } = world.head();
      const holder = { owner: OWNER, epoch };
      const progress: Progress = { contextId: CONTEXT, headSeq, entries, holder };
      if (!isLost) world.take({ kind: 'progress', progress });
    },
    snapshot(isLost) {
      if (world.asked === 0) return;
      world.asked = 0;
      if (!isLost && partial !== null) world.take({ kind: 'frame', frame: { kind: 'snapshot', partial } });
    },
    head: () => ({ headSeq: world.stored.entries.at(-1)?.seq ?? 0, owner: OWNER, epoch: 1 }),
    answer(at, how = 'late') {
      const [read] = world.reads.splice(at % Math.max(1, world.reads.length), 1);
      if (read === undefined) return;
      if (how === 'fails' && read.kind !== 'check') world.take({ kind: 'read_failed' });
      else world.take(how === 'early' ? read.early : answerTo(read.effect));
    },
    attach() {
      const told: StreamEvent[] = [];
      const { headSeq } = world.head();
      if (world.state.tail < 0) world.take({ kind: 'polled', head: world.head() });
      const client: Client = {
        told,
        position: headSeq,
        isEnded: false,
        send: (events) => void told.push(...events),
        drained: async () => undefined,
        end: () => (client.isEnded = true),
      };
      world.clients.push(client);
      subscribers.add(client, headSeq, world.state.tail);
      world.take({ kind: 'attached', subscriber: client, position: headSeq });
      return client;
    },
    detach(client) {
      world.clients = world.clients.filter((one) => one !== client);
      subscribers.delete(client);
      world.take({ kind: 'detached', isLast: subscribers.isEmpty });
    },
    flush() {
      const runs = due;
      due = [];
      for (const run of runs) run();
    },
    settle() {
      world.take({ kind: 'polled', head: world.head() });
      while (world.reads.length > 0) world.answer(0);
      world.flush();
    },
  };
  return world;

  function answerTo(read: Read): FeedEvent {
    const { entries, texts } = world.stored;
    switch (read.kind) {
      case 'read_head':
        return { kind: 'head_read', head: world.head() };
      case 'read_page':
        return { kind: 'page_read', page: entries.filter(({ seq }) => seq > read.after).slice(0, PAGE) };
      case 'read_answer':
        return { kind: 'answer_read', stored: texts.get(read.messageId) ?? null };
      case 'check':
        return { kind: 'checked', isStored: texts.has(read.messageId) };
    }
  }

  function carryOut(effect: FeedEffect): void {
    switch (effect.kind) {
      case 'broadcast':
        return subscribers.broadcast(effect.events);
      case 'deliver':
        for (const subscriber of subscribers.deliver(effect.entries, effect.tail))
          world.take({ kind: 'joined', subscriber });
        return;
      case 'send':
        return effect.subscriber.send(effect.events);
      case 'ask':
        world.asked += 1;
        return;
      case 'count_resync':
        world.resyncs += 1;
        return;
      case 'continue':
        return effect.events.forEach((event) => world.take(event));
      case 'end':
        return subscribers.end();
      case 'read_head':
      case 'read_page':
      case 'read_answer':
      case 'check':
        world.reads.push({ kind: effect.kind, effect, early: answerTo(effect) });
    }
  }
}
