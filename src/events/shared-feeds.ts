/** The feeds of this process: one for each context, as long as requests use it. */
import { deltasOf, progressOf, type Bus } from '../bus/bus.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { keyOf } from '../db/read/messages/event-views.ts';
import { ContextFeed, type FeedPorts } from './context-feed.ts';

export type SharedFeed = {
  feed: ContextFeed;
  users: number;
  /** Resolves once bus messages arrive, with the functions that unsubscribe. */
  subscribed: Promise<(() => void)[]>;
};

export class SharedFeeds {
  readonly #bus: Bus;
  readonly #ports: FeedPorts;
  readonly #shared = new Map<string, SharedFeed>();

  constructor(bus: Bus, ports: FeedPorts) {
    this.#bus = bus;
    this.#ports = ports;
  }

  get isEmpty(): boolean {
    return this.#shared.size === 0;
  }

  get all(): ContextFeed[] {
    return [...this.#shared.values()].map(({ feed }) => feed);
  }

  find(tenantId: TenantId, contextId: ContextId): ContextFeed | null {
    return this.#shared.get(keyOf(tenantId, contextId))?.feed ?? null;
  }

  /** To be released. */
  take(tenantId: TenantId, contextId: ContextId): SharedFeed {
    const key = keyOf(tenantId, contextId);
    const one = this.#shared.get(key) ?? this.#open(tenantId, contextId);
    this.#shared.set(key, one);
    one.users += 1;
    return one;
  }

  release(one: SharedFeed): void {
    one.users -= 1;
    if (one.users > 0) return;
    this.#shared.delete(keyOf(one.feed.tenantId, one.feed.contextId));
    void one.subscribed.then((ends) => ends.forEach((end) => end()));
  }

  #open(tenantId: TenantId, contextId: ContextId): SharedFeed {
    const feed = new ContextFeed(tenantId, contextId, this.#ports);
    const subscribed = Promise.all([
      this.#bus.subscribe(progressOf(contextId), (progress) => feed.takeProgress(progress)),
      this.#bus.subscribe(deltasOf(contextId), (frame) => feed.takeFrame(frame)),
    ]);
    return { feed, users: 0, subscribed };
  }
}
