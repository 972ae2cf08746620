/**
 * The contexts that this process runs, each at most once. A context has a place from before its claim until its run has
 * ended. So a lease of this process without a place is left over from an earlier run.
 */
import { RunSignals } from '../../agent/run-signals.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { Unsupported } from './unsupported.ts';

type Place = {
  signals: RunSignals;
  ended: Promise<void>;
  /** When its claim had been made, on the monotonic clock; null: not yet. */
  claimedAt: number | null;
  /** Null: not known yet. */
  tenantId: TenantId | null;
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
  #closed = false;

  get running(): number {
    return this.#places.size;
  }

  has(contextId: ContextId): boolean {
    return this.#places.has(contextId);
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
      claimedAt: null,
      tenantId: null,
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
   * The context was seen as runnable at this time, on the monotonic clock. If its run had claimed it before, the run has
   * released it and is about to leave: the caller of the run then checks it again. False: no run here has a place for it.
   */
  noteRunnable(contextId: ContextId, at: number): boolean {
    const place = this.#places.get(contextId);
    if (place === undefined) return false;
    if (place.claimedAt !== null && place.claimedAt < at) this.#notified.add(contextId);
    return true;
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

  /** Runs of these tenants release their context at the next step. */
  leaveTenants(tenants: ReadonlySet<TenantId>): void {
    for (const { signals, tenantId } of this.#places.values())
      if (tenantId !== null && tenants.has(tenantId)) signals.leave();
  }

  /** Runs release their context at the next step. */
  close(): void {
    this.#closed = true;
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
