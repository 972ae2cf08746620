/**
 * What this process runs: at most `capacity` contexts at once, each context at most once. A context has its place from
 * before it is claimed until its run has ended, so that whatever is owned but has no place here was left behind.
 */
import { Attention } from '../agent/attention.ts';
import type { ContextId } from '../core/ids.ts';

export type Place = { attention: Attention; ended: Promise<void>; leave(): void };

export class Registry {
  readonly #places = new Map<ContextId, Place>();
  readonly #waiting: (() => void)[] = [];
  readonly #capacity: number;
  #taken = 0;
  #closed = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get free(): number {
    return this.#closed ? 0 : this.#capacity - this.#taken;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get running(): number {
    return this.#taken;
  }

  has(contextId: ContextId): boolean {
    return this.#places.has(contextId);
  }

  /** Waits for a free slot. False: the process stops. */
  async takeSlot(): Promise<boolean> {
    while (this.free <= 0 && !this.#closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#closed) return false;
    this.#taken += 1;
    return true;
  }

  giveSlot(): void {
    this.#taken -= 1;
    this.#waiting.shift()?.();
  }

  /**
   * A place for the context. Null: its run is under way here, and hears of wake-ups by itself. An older run whose lease
   * is lost is waited for: one process never runs two of a context.
   */
  async enter(contextId: ContextId): Promise<Place | null> {
    for (let older = this.#places.get(contextId); older !== undefined; older = this.#places.get(contextId)) {
      if (!older.attention.lost) return null;
      await older.ended;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const place: Place = {
      attention: new Attention(),
      ended,
      leave: () => {
        this.#places.delete(contextId);
        resolve();
      },
    };
    if (this.#closed) place.attention.leave();
    this.#places.set(contextId, place);
    return place;
  }

  /** Tells the run of a context to look up, if it is here and has not seen what it is called for. */
  lookUp(contextId: ContextId, controlSeq: number): void {
    this.#places.get(contextId)?.attention.lookUp(controlSeq);
  }

  /** All leases are gone. */
  loseAll(): void {
    for (const { attention } of this.#places.values()) attention.lose();
  }

  /** No more slots; those that run give their context back at the next step. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const { attention } of this.#places.values()) attention.leave();
  }

  /** What may be repeated elsewhere is ended. */
  hurry(): void {
    for (const { attention } of this.#places.values()) attention.hurry();
  }

  /** All that runs is ended. */
  end(): void {
    for (const { attention } of this.#places.values()) attention.lookUp();
  }

  /** Resolves when nothing runs any more. */
  async emptied(): Promise<void> {
    while (this.#places.size > 0) await Promise.all([...this.#places.values()].map((place) => place.ended));
  }
}
