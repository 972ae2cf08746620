/**
 * What this process runs: at most `capacity` contexts at once, each context at most once. A context has its place from
 * before it is claimed until its run has ended, so that whatever is owned but has no place here was left behind.
 */
import { RunSignals } from '../agent/run-signals.ts';
import type { ContextId } from '../core/ids.ts';
import { Unsupported } from './unsupported.ts';

export type Place = {
  signals: RunSignals;
  ended: Promise<void>;
  /** Ends it. True: somebody rang meanwhile, perhaps after the run had given its context back: look once more. */
  leave(): boolean;
};

export class Registry {
  /** What it cannot run. */
  readonly unsupported = new Unsupported();
  readonly #places = new Map<ContextId, Place>();
  /** Contexts that were rung for while they had their place. */
  readonly #notified = new Set<ContextId>();
  readonly #waiting: (() => void)[] = [];
  readonly #capacity: number;
  #taken = 0;
  /** Slots that are kept for what a sweep is about to find. */
  #reserved = 0;
  #closed = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get free(): number {
    return this.#closed ? 0 : Math.max(0, this.#capacity - this.#taken - this.#reserved);
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

  /** Keeps all free slots, so that whatever is found for them can be taken up for certain. How many: what is given back. */
  reserve(): number {
    const { free } = this;
    this.#reserved += free;
    return free;
  }

  /** Of the reserved slots, `used` are taken, the rest are free again. */
  settleReserved(reserved: number, used: number): void {
    this.#reserved -= reserved;
    this.#taken += used;
    for (let count = reserved - used; count > 0; count -= 1) this.#waiting.shift()?.();
  }

  /**
   * A place for the context. Null: its run is under way here, and hears of wake-ups by itself, or looks once more when it
   * leaves. An older run whose lease is lost is waited for: one process never runs two of a context.
   */
  async enter(contextId: ContextId): Promise<Place | null> {
    for (let older = this.#places.get(contextId); older !== undefined; older = this.#places.get(contextId)) {
      if (!older.signals.lost) {
        this.#notified.add(contextId);
        return null;
      }
      await older.ended;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const place: Place = {
      signals: new RunSignals(),
      ended,
      leave: () => {
        this.#places.delete(contextId);
        resolve();
        return this.#notified.delete(contextId) && !this.#closed;
      },
    };
    if (this.#closed) place.signals.leave();
    this.#places.set(contextId, place);
    return place;
  }

  /** Tells the run of a context to look up, if it is here and has not seen what it is called for. */
  lookUp(contextId: ContextId, controlSeq: number): void {
    this.#places.get(contextId)?.signals.lookUp(controlSeq);
  }

  /** All leases are gone. */
  loseAll(): void {
    for (const { signals } of this.#places.values()) signals.lose();
  }

  /** No more slots; those that run give their context back at the next step. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const { signals } of this.#places.values()) signals.leave();
  }

  /** Tools that may be repeated elsewhere are ended. */
  hurry(): void {
    for (const { signals } of this.#places.values()) signals.hurry();
  }

  /** All that runs is ended. */
  end(): void {
    for (const { signals } of this.#places.values()) signals.lookUp();
  }

  /** Resolves when nothing runs any more. */
  async emptied(): Promise<void> {
    while (this.#places.size > 0) await Promise.all([...this.#places.values()].map((place) => place.ended));
  }
}
