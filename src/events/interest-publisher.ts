/** Reports to worker processes which of their contexts have subscribers here: many in one message. */
import { interestTo, type Bus } from '../bus/bus.ts';
import type { ContextId, ProcessId } from '../core/ids.ts';

/** How long a reported interest is valid, in milliseconds; it is renewed well before that. */
const LISTENS_MS = 10_000;
const RENEW_MS = 3_000;

/** Contexts in one message at most. */
const MANY = 1_000;

/** A context with the process that needs to know about its subscribers, if any. */
type SubscribedContext = { contextId: ContextId; ownerToNotify: ProcessId | null };

export class InterestPublisher {
  readonly #bus: Bus;
  readonly #asking = new Map<ProcessId, Set<ContextId>>();
  #renewedAt = performance.now();

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Asks the owner to publish the current state of the context, and all that happens from then on. */
  ask(owner: ProcessId, contextId: ContextId): void {
    if (this.#asking.size === 0) setImmediate(() => this.#send());
    const contextIds = this.#asking.get(owner) ?? new Set();
    this.#asking.set(owner, contextIds.add(contextId));
  }

  /** Reports all contexts again when it is time. */
  renew(contexts: readonly SubscribedContext[]): void {
    if (performance.now() - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = performance.now();
    const byOwner = Map.groupBy(contexts, ({ ownerToNotify }) => ownerToNotify);
    for (const [owner, followed] of byOwner) {
      if (owner === null) continue;
      for (const some of chunks(followed.map(({ contextId }) => contextId))) {
        this.#bus.publish(interestTo(owner), { listening: some, asking: [], forMs: LISTENS_MS });
      }
    }
  }

  #send(): void {
    for (const [owner, contexts] of this.#asking) {
      for (const some of chunks([...contexts])) {
        this.#bus.publish(interestTo(owner), { listening: [], asking: some, forMs: LISTENS_MS });
      }
    }
    this.#asking.clear();
  }
}

function chunks(contexts: readonly ContextId[]): ContextId[][] {
  const count = Math.ceil(contexts.length / MANY);
  return Array.from({ length: count }, (_, at) => contexts.slice(at * MANY, (at + 1) * MANY));
}
