/**
 * One context that has subscribers here. It has one tail: all attached subscribers have everything up to it. Bus
 * messages that continue exactly at the tail are sent as they arrive; any other makes the feed read PostgreSQL once for
 * all. The feed also keeps a view of the partial message: its deltas are sent as they arrive, and a subscriber that
 * joins in the middle gets all of it.
 */
import type { Progress } from '../bus/bus.ts';
import type { ContextId, MessageId, ProcessId, TenantId } from '../core/ids.ts';
import { amend, catchUp, follow, isSettled, voided } from '../core/stream/partial-message.ts';
import type { DeltaFrame, View } from '../core/stream/partial-message.ts';
import { MESSAGE_COMPLETED } from '../core/stream/stream-event.ts';
import type { NumberedEvent } from '../core/stream/stream-event.ts';
import type { Executor } from '../db/connection/client.ts';
import { readEvents, readHead, readText } from '../db/read/messages/event-views.ts';
import type { Head } from '../db/read/messages/event-views.ts';
import type { InterestPublisher } from './interest-publisher.ts';
import type { Subscriber } from './subscriber.ts';
import { Subscribers } from './subscribers.ts';
import type { Pace } from './pace.ts';
import { Recent } from './recent.ts';

/** Entries per query. */
export const PAGE = 500;

/** Time between two requests for a snapshot at least, in milliseconds. */
const ASK_AGAIN_MS = 150;

/** Delta frames kept while PostgreSQL is read. Beyond that the feed requests a snapshot. */
const MOST_DEFERRED_FRAMES = 1_000;

export type FeedPorts = {
  db: Executor;
  interest: InterestPublisher;
  pace: Pace;
  /** Bus messages were missed, and PostgreSQL is read instead. */
  onResync(): void;
};

export class ContextFeed {
  readonly tenantId: TenantId;
  readonly contextId: ContextId;
  readonly #ports: FeedPorts;
  readonly #subscribers: Subscribers;
  /** Messages and jobs that have ended: later frames of them are late. */
  readonly #over = new Recent<unknown>();
  #tail = -1;
  /** The tail passed entries that were not read: the message of the next frame may be stored already. */
  #blind = true;
  /** What arrives while that is checked, in order; null: no check is running. */
  #deferred: (() => void)[] | null = null;
  /** The highest known `headSeq`. */
  #known = -1;
  #holder: { owner: ProcessId | null; epoch: number } = { owner: null, epoch: -1 };
  #view: View | null = null;
  #reading = false;
  #deferredFrames: DeltaFrame[] = [];
  /** A snapshot is needed, and no request for it was sent yet. */
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

  /**
   * The process that needs to know about the subscribers; null: no process holds the context, or it has no subscribers.
   */
  get ownerToNotify(): ProcessId | null {
    return this.#subscribers.isEmpty ? null : this.#holder.owner;
  }

  /** From now on `subscriber` gets everything beyond `position`, which is the tail or more. */
  attach(subscriber: Subscriber, position: number): void {
    if (this.#subscribers.add(subscriber, position, this.#tail)) this.#join(subscriber);
    else this.#readTo(position);
  }

  detach(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Takes the head of the context as read from PostgreSQL. */
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
    // The message before it is stored by now, but the bus message about it was lost: read that first.
    if (this.#view !== null && of.messageId !== this.#view.of.messageId && !this.#isOver(of)) {
      this.#deferredFrames.push(frame);
      void this.#look();
      return;
    }
    this.#take(frame);
  }

  /** Bus messages may have been lost: requests a snapshot. */
  lost(): void {
    this.#askedAt = -Infinity;
    this.#ask();
  }

  /** The context was deleted, or the process closes. */
  end(): void {
    this.#subscribers.end();
  }

  /** Brings a subscriber up to date with the partial message. */
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

  /** Checks whether the message of the frame is stored already: then the frame is late. */
  async #verify(frame: DeltaFrame, messageId: MessageId): Promise<void> {
    this.#deferred = [() => this.takeFrame(frame)];
    const tail = this.#tail;
    const stored = await readText(this.#ports.db, this.tenantId, messageId).catch(() => null);
    if (stored !== null) this.#over.add(messageId);
    // If the tail has moved meanwhile, the message may be stored by now.
    else if (tail === this.#tail) this.#blind = false;
    const deferred = this.#deferred ?? [];
    this.#deferred = null;
    for (const hear of deferred) hear();
  }

  /** Reads the head of the context, and the entries up to it. */
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
      // PostgreSQL is unavailable: the stream hub asks again.
      this.#known = this.#tail;
    }
    this.#reading = false;
    this.#release();
  }

  async #readPage(): Promise<void> {
    const { db } = this.#ports;
    const to = this.#known;
    if (this.#subscribers.isEmpty) {
      // Subscribers that are about to attach read these entries themselves.
      this.#tail = to;
      this.#blind = true;
      this.#view = null;
      return;
    }
    const page = await readEvents(db, this.tenantId, this.contextId, { after: this.#tail, limit: PAGE });
    const view = this.#unfinished(page);
    const stored = view === null ? null : await readText(db, this.tenantId, view.of.messageId);
    if (view !== null && stored !== null)
      this.#subscribers.broadcast(amend(this.contextId, view, stored.text, stored.attempt));
    const last = page.at(-1)?.seq ?? 0;
    this.#tail = page.length < PAGE ? Math.max(to, last) : last;
    this.#deliver(page);
  }

  /** Takes the delta frames that arrived while PostgreSQL was read. */
  #release(): void {
    const deferredFrames = this.#deferredFrames;
    this.#deferredFrames = [];
    for (const frame of deferredFrames) this.#take(frame);
  }

  /** The view of a message that `entries` complete although not all of its frames arrived. */
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

  /** Updates the view of the partial message by an entry. */
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
