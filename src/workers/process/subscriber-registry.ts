/**
 * The contexts that clients stream. API processes report their interest for a few seconds at a time. Deltas are
 * published only for contexts with subscribers.
 */
import type { Interest } from '../../bus/bus.ts';
import type { ContextId } from '../../core/ids.ts';

/** Publishes the current state of a context on request. */
type StatePublisher = { answer(): void };

/** How often expired entries are removed, in milliseconds. */
const FORGET_MS = 30_000;

export class SubscriberRegistry {
  /** When the interest in each context expires, on the monotonic clock. */
  readonly #until = new Map<ContextId, number>();
  readonly #publishers = new Map<ContextId, StatePublisher>();
  #forgotten = 0;

  isListening(contextId: ContextId): boolean {
    return (this.#until.get(contextId) ?? 0) > performance.now();
  }

  /** Requests for the state of the context go to `publisher`. Returns a function that ends this. */
  enter(contextId: ContextId, publisher: StatePublisher): () => void {
    this.#publishers.set(contextId, publisher);
    return () => {
      if (this.#publishers.get(contextId) === publisher) this.#publishers.delete(contextId);
    };
  }

  receive({ listening, asking, forMs }: Interest): void {
    const now = performance.now();
    for (const contextId of [...listening, ...asking]) this.#until.set(contextId, now + forMs);
    for (const contextId of asking) this.#publishers.get(contextId)?.answer();
    this.#forget(now);
  }

  #forget(now: number): void {
    if (now - this.#forgotten < FORGET_MS) return;
    this.#forgotten = now;
    for (const [contextId, until] of this.#until) if (until <= now) this.#until.delete(contextId);
  }
}
