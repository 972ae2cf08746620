/**
 * Who is listened to: API processes name the contexts that somebody streams, for a few seconds at a time. What nobody
 * listens to is not said.
 */
import type { Interest } from '../bus/bus.ts';
import type { ContextId } from '../core/ids.ts';

/** Somebody who can say how a context stands. */
export type Teller = { answer(): void };

/** How often those who went are forgotten, in milliseconds. */
const FORGET_MS = 30_000;

export class SubscriberRegistry {
  /** Until when each is listened to, of the monotonic clock. */
  readonly #until = new Map<ContextId, number>();
  readonly #tellers = new Map<ContextId, Teller>();
  #forgotten = 0;

  isListening(contextId: ContextId): boolean {
    return (this.#until.get(contextId) ?? 0) > performance.now();
  }

  /** Whoever asks from now on is answered by `teller`; returns what ends it. */
  enter(contextId: ContextId, teller: Teller): () => void {
    this.#tellers.set(contextId, teller);
    return () => {
      if (this.#tellers.get(contextId) === teller) this.#tellers.delete(contextId);
    };
  }

  receive({ listening, asking, forMs }: Interest): void {
    const now = performance.now();
    for (const contextId of [...listening, ...asking]) this.#until.set(contextId, now + forMs);
    for (const contextId of asking) this.#tellers.get(contextId)?.answer();
    this.#forget(now);
  }

  #forget(now: number): void {
    if (now - this.#forgotten < FORGET_MS) return;
    this.#forgotten = now;
    for (const [contextId, until] of this.#until) if (until <= now) this.#until.delete(contextId);
  }
}
