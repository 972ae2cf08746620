/**
 * One context that has subscribers here. It has one tail: all attached subscribers have everything up to it. Bus
 * messages that continue exactly at the tail are sent as they arrive; any other makes the feed read PostgreSQL once for
 * all. The feed also keeps a view of the partial message: its deltas are sent as they arrive, and a subscriber that
 * joins in the middle gets all of it. What follows from what is decided in `feed/`.
 */
import type { LiveFrame, Progress } from '../bus/bus.ts';
import type { ContextId, MessageId, ProcessId, TenantId } from '../core/ids.ts';
import type { Executor } from '../db/connection/client.ts';
import { readEvents, readHead, readText } from '../db/read/messages/event-views.ts';
import { ownerToNotify } from './feed/asking.ts';
import { advance } from './feed/feed.ts';
import { PAGE } from './feed/reading.ts';
import { newFeed, type FeedEffect, type FeedEvent, type FeedState, type Head } from './feed/state.ts';
import type { InterestPublisher } from './interest-publisher.ts';
import type { Subscriber } from './subscriber.ts';
import { Subscribers } from './subscribers.ts';
import type { Pace } from './pace.ts';

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
  #state: FeedState;

  constructor(tenantId: TenantId, contextId: ContextId, ports: FeedPorts) {
    this.tenantId = tenantId;
    this.contextId = contextId;
    this.#ports = ports;
    this.#subscribers = new Subscribers(ports.pace);
    this.#state = newFeed(contextId);
  }

  get tail(): number {
    return this.#state.tail;
  }

  /** The process that needs to know about the subscribers, if any. */
  get ownerToNotify(): ProcessId | null {
    return ownerToNotify(this.#state);
  }

  /** From now on `subscriber` gets everything beyond `position`, which is the tail or more. */
  attach(subscriber: Subscriber, position: number): void {
    this.#subscribers.add(subscriber, position, this.#state.tail);
    this.#take({ kind: 'attached', subscriber, position });
  }

  detach(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#take({ kind: 'detached', isLast: this.#subscribers.isEmpty });
  }

  /** Takes the head of the context as read from PostgreSQL. */
  takeHead(head: Head): void {
    this.#take({ kind: 'polled', head });
  }

  takeProgress(progress: Progress): void {
    this.#take({ kind: 'progress', progress });
  }

  takeFrame(frame: LiveFrame): void {
    this.#take(frame.kind === 'progress' ? { kind: 'call_progress', frame } : { kind: 'frame', frame });
  }

  /** Bus messages may have been lost: requests a snapshot. */
  lost(): void {
    this.#take({ kind: 'lost' });
  }

  /** The context was deleted, or the process closes. */
  end(): void {
    this.#take({ kind: 'ended' });
  }

  #take(event: FeedEvent): void {
    const { state, effects } = advance(this.#state, event, performance.now());
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: FeedEffect): void {
    switch (effect.kind) {
      case 'broadcast':
        return this.#subscribers.broadcast(effect.events);
      case 'deliver':
        for (const subscriber of this.#subscribers.deliver(effect.entries, effect.tail))
          this.#take({ kind: 'joined', subscriber });
        return;
      case 'send':
        return effect.subscriber.send(effect.events);
      case 'ask':
        return this.#ports.interest.ask(effect.owner, this.contextId);
      case 'count_resync':
        return this.#ports.onResync();
      case 'read_head':
      case 'read_page':
      case 'read_answer':
        return void this.#read(effect);
      case 'check':
        return void this.#check(effect.messageId);
      case 'continue':
        for (const event of effect.events) this.#take(event);
        return;
      case 'end':
        return this.#subscribers.end();
    }
  }

  async #read(read: Extract<FeedEffect, { kind: `read_${string}` }>): Promise<void> {
    this.#take(await this.#answer(read).catch((): FeedEvent => ({ kind: 'read_failed' })));
  }

  async #answer(read: Extract<FeedEffect, { kind: `read_${string}` }>): Promise<FeedEvent> {
    const { db } = this.#ports;
    switch (read.kind) {
      case 'read_head':
        return { kind: 'head_read', head: await readHead(db, this.tenantId, this.contextId) };
      case 'read_page': {
        const page = await readEvents(db, this.tenantId, this.contextId, { after: read.after, limit: PAGE });
        return { kind: 'page_read', page };
      }
      case 'read_answer':
        return { kind: 'answer_read', stored: await readText(db, this.tenantId, read.messageId) };
    }
  }

  /** If PostgreSQL is unavailable, the message counts as not stored. */
  async #check(messageId: MessageId): Promise<void> {
    const stored = await readText(this.#ports.db, this.tenantId, messageId).catch(() => null);
    this.#take({ kind: 'checked', isStored: stored !== null });
  }
}
