/**
 * One context that is listened to here. There is one tail: up to it everything was told to all who are attached. Whispers
 * that go on exactly from it are told as they come; whatever else is heard makes it read Postgres once for all. Beside it
 * stands the view of the message in the making, told as it is heard and given whole to those who join in the middle.
 */
import type { Progress } from '../bus/bus.ts';
import type { ContextId, MessageId, ProcessId, TenantId } from '../core/ids.ts';
import { amend, catchUp, follow, isSettled, voided } from '../core/partial-message.ts';
import type { DeltaFrame, View } from '../core/partial-message.ts';
import { MESSAGE_COMPLETED } from '../core/stream-event.ts';
import type { NumberedEvent } from '../core/stream-event.ts';
import type { Executor } from '../db/client.ts';
import { readEvents, readHead, readText } from '../db/event-views.ts';
import type { Head } from '../db/event-views.ts';
import type { InterestPublisher } from './interest-publisher.ts';
import type { Subscriber } from './subscriber.ts';
import { Subscribers } from './subscribers.ts';
import type { Pace } from './pace.ts';
import { Recent } from './recent.ts';

/** Entries read at once. */
export const PAGE = 500;

/** The owner is not asked again sooner for what was missed, in milliseconds. */
const ASK_AGAIN_MS = 150;

/** Utterances kept while Postgres is read. Beyond them a snapshot is asked for. */
const MOST_DEFERRED_FRAMES = 1_000;

export type FeedPorts = {
  db: Executor;
  interest: InterestPublisher;
  pace: Pace;
  /** Something was missed, and Postgres was read for it. */
  onResync(): void;
};

export class ContextFeed {
  readonly tenantId: TenantId;
  readonly contextId: ContextId;
  readonly #ports: FeedPorts;
  readonly #subscribers: Subscribers;
  /** Messages and jobs that are over: what is still said of them is late. */
  readonly #over = new Recent<unknown>();
  #tail = -1;
  /** The tail passed entries that were not looked at: what is spoken of may be stored by now. */
  #blind = true;
  /** What is heard while that is found out, in order; null: nothing is to be found out. */
  #deferred: (() => void)[] | null = null;
  /** How far it is known to go. */
  #known = -1;
  #holder: { owner: ProcessId | null; epoch: number } = { owner: null, epoch: -1 };
  #view: View | null = null;
  #reading = false;
  #deferredFrames: DeltaFrame[] = [];
  /** A snapshot was asked for and has not come. */
  #missing = false;
  #askedAt = -Infinity;

  constructor(tenantId: TenantId, contextId: ContextId, ports: FeedPorts) {
    this.tenantId = tenantId;
    this.contextId = contextId;
    this.#ports = ports;
    this.#subscribers = new Subscribers(ports.pace);
  }

  get tail(): number {
    return this.#tail;
  }

  /** Whose ears are to be told that somebody listens; null: nobody holds it, or nobody listens. */
  get ownerToNotify(): ProcessId | null {
    return this.#subscribers.isEmpty ? null : this.#holder.owner;
  }

  /** From here on `listener` is told all beyond `position`, which is the tail or more. */
  attach(subscriber: Subscriber, position: number): void {
    if (this.#subscribers.add(subscriber, position, this.#tail)) this.#join(subscriber);
    else this.#readTo(position);
  }

  detach(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** It was read in Postgres that it stands so. */
  stands(head: Head): void {
    this.#setHolder(head.owner, head.epoch);
    if (this.#tail < 0) this.#tail = head.headSeq;
    else if (head.headSeq > this.#tail) this.#readTo(head.headSeq);
    if (this.#missing) this.#ask();
  }

  takeProgress(progress: Progress): void {
    if (this.#tail < 0) return;
    if (this.#deferred !== null) return void this.#deferred.push(() => this.takeProgress(progress));
    const { headSeq, entries = [], holder } = progress;
    if (holder !== undefined) this.#setHolder(holder.owner, holder.epoch);
    if (headSeq === 0) void this.#look();
    if (headSeq <= this.#tail) return;
    const news = entries.filter(({ seq }) => seq > this.#tail);
    const goesOn = news[0]?.seq === this.#tail + 1 && news.length === headSeq - this.#tail;
    if (this.#reading || !goesOn || this.#unfinished(news) !== null) return this.#readTo(headSeq);
    this.#known = Math.max(this.#known, headSeq);
    this.#tail = headSeq;
    this.#deliver(news);
  }

  takeFrame(frame: DeltaFrame): void {
    if (this.#tail < 0) return;
    if (this.#reading) {
      this.#deferredFrames.push(frame);
      if (this.#deferredFrames.length <= MOST_DEFERRED_FRAMES) return;
      this.#deferredFrames = [];
      this.#missing = true;
      return;
    }
    const of = frame.kind === 'snapshot' ? frame.partial.of : frame.of;
    // The message before it is stored by now, and nobody said so: that comes first.
    if (this.#view !== null && of.messageId !== this.#view.of.messageId && !this.#isOver(of)) {
      this.#deferredFrames.push(frame);
      void this.#look();
      return;
    }
    this.#take(frame);
  }

  /** Something may have been missed that nobody will say again. */
  lost(): void {
    this.#askedAt = -Infinity;
    this.#ask();
  }

  /** The context is gone, or nobody follows it any more. */
  end(): void {
    this.#subscribers.end();
  }

  /** What is being said is said to `listener` as well. */
  #join(subscriber: Subscriber): void {
    const view = this.#view;
    if (view !== null && !view.void && view.of.epoch === this.#holder.epoch)
      subscriber.send(catchUp(this.contextId, view));
    else this.#ask();
  }

  #setHolder(owner: ProcessId | null, epoch: number): void {
    const before = this.#holder;
    if (epoch < before.epoch) return;
    this.#holder = { owner, epoch };
    if (owner === before.owner && epoch === before.epoch) return;
    this.#askedAt = -Infinity;
    this.#ask();
  }

  #ask(): void {
    const { ownerToNotify } = this;
    const now = performance.now();
    if (ownerToNotify === null || now - this.#askedAt < ASK_AGAIN_MS) return;
    this.#askedAt = now;
    this.#missing = false;
    this.#ports.interest.ask(ownerToNotify, this.contextId);
  }

  #take(frame: DeltaFrame): void {
    if (this.#deferred !== null) return void this.#deferred.push(() => this.takeFrame(frame));
    const of = frame.kind === 'snapshot' ? frame.partial.of : frame.of;
    if (this.#isOver(of) || of.epoch < this.#holder.epoch) return;
    if (this.#blind && of.messageId !== this.#view?.of.messageId) {
      return void this.#verify(frame, of.messageId);
    }
    if (of.epoch > this.#holder.epoch) this.#holder = { ...this.#holder, epoch: of.epoch };
    const outcome = follow(this.contextId, this.#view, frame);
    switch (outcome.kind) {
      case 'applied':
        this.#view = outcome.view;
        this.#missing = false;
        this.#subscribers.broadcast(outcome.events);
        return;
      case 'missed':
        this.#missing = true;
        this.#ask();
        return;
      case 'stale':
        return;
    }
  }

  #isOver({ messageId, jobId }: View['of']): boolean {
    return this.#over.has(messageId) || this.#over.has(jobId);
  }

  /** Whether the message that is spoken of is stored already: then what is said of it is late. */
  async #verify(frame: DeltaFrame, messageId: MessageId): Promise<void> {
    this.#deferred = [() => this.takeFrame(frame)];
    const tail = this.#tail;
    const stored = await readText(this.#ports.db, this.tenantId, messageId).catch(() => null);
    if (stored !== null) this.#over.add(messageId);
    // Where the tail went on meanwhile, it may be stored by now.
    else if (tail === this.#tail) this.#blind = false;
    const deferred = this.#deferred ?? [];
    this.#deferred = null;
    for (const hear of deferred) hear();
  }

  /** Reads how far it goes, and what that is. */
  async #look(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const head = await readHead(this.#ports.db, this.tenantId, this.contextId).catch(() => undefined);
    this.#reading = false;
    if (head === null) return this.end();
    if (head !== undefined && head.headSeq > this.#tail) this.#readTo(head.headSeq);
    else this.#release();
  }

  #readTo(headSeq: number): void {
    this.#known = Math.max(this.#known, headSeq);
    if (!this.#reading) void this.#readOn();
  }

  async #readOn(): Promise<void> {
    this.#reading = true;
    this.#ports.onResync();
    try {
      while (this.#tail < this.#known) await this.#readPage();
    } catch {
      // Postgres is away: whoever follows all contexts asks again.
      this.#known = this.#tail;
    }
    this.#reading = false;
    this.#release();
  }

  async #readPage(): Promise<void> {
    const { db } = this.#ports;
    const to = this.#known;
    if (this.#subscribers.isEmpty) {
      // Those who are on their way read for themselves.
      this.#tail = to;
      this.#blind = true;
      this.#view = null;
      return;
    }
    const page = await readEvents(db, this.tenantId, this.contextId, this.#tail, PAGE);
    const view = this.#unfinished(page);
    const stored = view === null ? null : await readText(db, this.tenantId, view.of.messageId);
    if (view !== null && stored !== null)
      this.#subscribers.broadcast(amend(this.contextId, view, stored.text, stored.attempt));
    const last = page.at(-1)?.seq ?? 0;
    this.#tail = page.length < PAGE ? Math.max(to, last) : last;
    this.#deliver(page);
  }

  /** Utterances that came while Postgres was read. */
  #release(): void {
    const deferredFrames = this.#deferredFrames;
    this.#deferredFrames = [];
    for (const frame of deferredFrames) this.#take(frame);
  }

  /** The view of a message that is completed in `entries` though not all of it was heard. */
  #unfinished(entries: readonly NumberedEvent[]): View | null {
    const view = this.#view;
    if (view === null || isSettled(view)) return null;
    const isIn = entries.some(
      ({ name, data }) => name === MESSAGE_COMPLETED && data['message_id'] === view.of.messageId,
    );
    return isIn ? view : null;
  }

  #deliver(entries: readonly NumberedEvent[]): void {
    for (const entry of entries) this.#note(entry);
    for (const subscriber of this.#subscribers.deliver(entries, this.#tail)) this.#join(subscriber);
  }

  /** What an entry says of the message in the making. */
  #note({ name, data }: NumberedEvent): void {
    const view = this.#view;
    switch (name) {
      case MESSAGE_COMPLETED:
        this.#over.add(data['message_id']);
        if (view?.of.messageId === data['message_id']) this.#view = null;
        return;
      case 'JobFinished':
        this.#over.add(data['job_id']);
        if (view?.of.jobId === data['job_id']) this.#view = null;
        return;
      case 'StateChanged':
        if (view !== null && data['new_state'] === 'TransientFailure') this.#view = voided(view);
        return;
    }
  }
}
