/**
 * The contexts that this process runs: at most `capacity` at once, each at most once. A context has a place from before
 * its claim until its run has ended. So a lease of this process without a place is left over from an earlier run.
 */
import { RunSignals } from '../../agent/run-signals.ts';
import type { ContextId } from '../../core/ids.ts';
import { Unsupported } from './unsupported.ts';

type Place = {
  signals: RunSignals;
  ended: Promise<void>;
  /**
   * Ends the place. True: a wake-up arrived meanwhile, perhaps after the run released its context, so the caller checks
   * it again.
   */
  leave(): boolean;
};

export class Registry {
  readonly unsupported = new Unsupported();
  readonly #places = new Map<ContextId, Place>();
  /** Contexts that got a wake-up while they had a place. */
  readonly #notified = new Set<ContextId>();
  readonly #waiting: (() => void)[] = [];
  readonly #capacity: number;
  #taken = 0;
  /** Slots reserved for what a sweep is about to find. */
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

  /** Waits for a free slot. False: the process is draining. */
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

  /** Reserves all free slots, so that every context found for them can run. Returns their number. */
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
   * A place for the context. Null: a run is in progress here, and reads new work itself or is repeated when it leaves.
   * If that run has lost its lease, this waits for its end: a process never runs a context twice at the same time.
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

  /**
   * Passes a control signal to the run of a context, if it runs here. A run ignores a `controlSeq` that it has already
   * read.
   */
  notify(contextId: ContextId, controlSeq: number): void {
    this.#places.get(contextId)?.signals.notify(controlSeq);
  }

  /** All leases are lost: ends all runs. */
  loseAll(): void {
    for (const { signals } of this.#places.values()) signals.lose();
  }

  /** Closes all slots. Runs release their context at the next step. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const { signals } of this.#places.values()) signals.leave();
  }

  /** Aborts tools that may run again elsewhere. */
  abortSoft(): void {
    for (const { signals } of this.#places.values()) signals.abortSoft();
  }

  /** Aborts everything in flight. */
  end(): void {
    for (const { signals } of this.#places.values()) signals.notify();
  }

  /** Resolves when no context runs any more. */
  async emptied(): Promise<void> {
    while (this.#places.size > 0) await Promise.all([...this.#places.values()].map((place) => place.ended));
  }
}
