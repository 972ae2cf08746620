/**
 * The slots of a process: how many contexts it runs at once. Beyond `capacity` there are a few reserved ones, for
 * tenants that run nothing here while all others are taken.
 */
import type { TenantId } from '../../core/ids.ts';
import type { UserOrNone } from '../../core/access/user.ts';
import type { LeavesTo, TenantShares } from './tenant-shares.ts';

/** For so long after all slots were taken, in milliseconds, the process counts as busy. */
const BUSY_MS = 100;

export class Slots {
  readonly capacity: number;
  readonly shares: TenantShares;
  readonly #reserved: number;
  readonly #waiting: ((slot: Slot | null) => void)[] = [];
  #taken = 0;
  /** Slots that do not serve a tenant yet. */
  #open = 0;
  #busyUntil = 0;
  #closed = false;
  #isPaused = false;

  constructor(shares: TenantShares, capacity: number, reserved = 0) {
    this.shares = shares;
    this.capacity = capacity;
    this.#reserved = reserved;
  }

  get running(): number {
    return this.#taken;
  }

  get free(): number {
    return this.areOpen ? Math.max(0, this.capacity - this.#taken) : 0;
  }

  /** Whether runs may begin: the process is neither paused nor draining. */
  get areOpen(): boolean {
    return !this.#closed && !this.#isPaused;
  }

  /** Whether all slots are taken, or were a moment ago: then work may wait for one. */
  get areBusy(): boolean {
    return this.#taken >= this.capacity || performance.now() < this.#busyUntil;
  }

  /** Waits for a free slot. Null: the process is paused or draining, so others find the context by their sweeps. */
  async take(): Promise<Slot | null> {
    if (this.free > 0) return this.#openOne();
    return this.areOpen ? new Promise((resolve) => this.#waiting.push(resolve)) : null;
  }

  /** Null: none is free. */
  takeFree(): Slot | null {
    return this.free > 0 ? this.#openOne() : null;
  }

  /** Whether it is known whose contexts all taken slots run. */
  get areKnown(): boolean {
    return this.#open === 0;
  }

  /** A reserved slot, if all others are taken. */
  takeReserved(): Slot | null {
    const isOne = this.areOpen && this.free === 0 && this.#taken < this.capacity + this.#reserved;
    return isOne ? this.#openOne() : null;
  }

  /** No run begins until `resume`. Those in progress go on, and end between two jobs. */
  pause(): void {
    this.#isPaused = true;
    this.#turnAway();
  }

  resume(): void {
    this.#isPaused = false;
  }

  close(): void {
    this.#closed = true;
    this.#turnAway();
  }

  #turnAway(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(null);
  }

  #openOne(): Slot {
    this.#taken += 1;
    this.#open += 1;
    this.#noteFull();
    return new Slot(this.shares, {
      give: () => this.#give(),
      known: (isKnown) => (this.#open += isKnown ? -1 : 1),
      isScarce: () => this.free === 0,
      isOver: () => this.#taken > this.capacity,
      isPaused: () => this.#isPaused,
    });
  }

  #give(): void {
    this.#noteFull();
    this.#taken -= 1;
    this.#open -= 1;
    if (this.free > 0) this.#waiting.shift()?.(this.#openOne());
  }

  #noteFull(): void {
    if (this.#taken >= this.capacity) this.#busyUntil = performance.now() + BUSY_MS;
  }
}

/** What a slot tells and asks all slots. */
type Of = {
  give: () => void;
  /** Whether it is known whose context it runs. */
  known: (isKnown: boolean) => void;
  /** None is free. */
  isScarce: () => boolean;
  /** Reserved ones are taken, so that none is free after one more was returned. */
  isOver: () => boolean;
  /** The process begins no run. */
  isPaused: () => boolean;
};

/** One slot, from the moment it is taken until it is returned. */
export class Slot {
  readonly #shares: TenantShares;
  readonly #of: Of;
  #served: { tenant: TenantId; user: UserOrNone } | null = null;
  #hasYielded = false;
  #leavesTo: LeavesTo | null = null;

  constructor(shares: TenantShares, of: Of) {
    this.#shares = shares;
    this.#of = of;
  }

  /** The tenant that it runs a context of. Null: not known yet. */
  get tenant(): TenantId | null {
    return this.#served?.tenant ?? null;
  }

  /** It runs a context of this user of this tenant. */
  serve(tenant: TenantId, user: UserOrNone): void {
    if (tenant === this.#served?.tenant && user === this.#served.user) return;
    this.#leave();
    this.#served = { tenant, user };
    this.#of.known(true);
    this.#shares.begin(tenant, user);
  }

  /**
   * Whether it runs a context once, and others decide about its next run: its tenant has a limit of slots, so that the
   * contexts of the tenant take turns, or the process is paused.
   */
  get takesTurns(): boolean {
    return this.#of.isPaused() || (this.#served !== null && this.#shares.isLimited(this.#served.tenant));
  }

  /**
   * Whether its run should end between two jobs: for a context of another tenant or user, because its tenant has a limit
   * of slots, or because the process is paused. After a limit its next claim counts again, and other contexts of the
   * tenant have their turn.
   */
  yields(): boolean {
    if (this.#served === null || this.#hasYielded) return this.#hasYielded;
    const { tenant, user } = this.#served;
    if (!this.takesTurns && this.#of.isScarce()) this.#leavesTo = this.#shares.yields(tenant, user, !this.#of.isOver());
    this.#hasYielded = this.takesTurns || this.#leavesTo !== null;
    return this.#hasYielded;
  }

  give(): void {
    this.#leave();
    this.#of.give();
  }

  #leave(): void {
    if (this.#served !== null) {
      this.#shares.end(this.#served.tenant, this.#served.user, this.#leavesTo);
      this.#of.known(false);
    }
    this.#served = null;
    this.#hasYielded = false;
    this.#leavesTo = null;
  }
}
