/**
 * How the slots of a process are shared between tenants. The next one goes to the tenant that runs the fewest contexts
 * here for its weight; if several do, to the one whose last start is the longest ago.
 */
import type { TenantId } from '../../core/ids.ts';

/** Tenants of which the last start is remembered; of others it counts as longer ago. */
const MOST = 10_000;
/** How long a count of waiting contexts is used, in milliseconds. */
const NOTED_MS = 1_000;

export class Shares {
  readonly #running = new Map<TenantId, number>();
  /** The latest start last. */
  readonly #startedAt = new Map<TenantId, number>();
  #starts = 0;
  /** Contexts that waited when it was last noted, without those that were started here, or promised a slot, since. */
  readonly #waiting = new Map<TenantId, number>();
  #notedAt = -Infinity;
  readonly #promised = new Map<TenantId, number>();
  /** Runs that leave their slots for them. */
  readonly #leaving = new Map<TenantId, number>();

  /** Of those whose weight is not 1. */
  #weights: ReadonlyMap<TenantId, number> = new Map();

  /** The limit of slots of tenants that have none of their own; null: none. */
  readonly #ofFile: number | null;
  #limits: ReadonlyMap<TenantId, number> = new Map();
  #areLimitsCut = false;

  constructor(slotsOfTenant: number | null = null) {
    this.#ofFile = slotsOfTenant;
  }

  setWeights(weights: ReadonlyMap<TenantId, number>): void {
    this.#weights = weights;
  }

  /** Slots of tenants with a limit, over all processes. `isCut`: there may be more such tenants. */
  setLimits(limits: ReadonlyMap<TenantId, number>, isCut: boolean): void {
    this.#limits = limits;
    this.#areLimitsCut = isCut;
  }

  /** Whether its slots are limited, as far as this process knows. */
  isLimited(tenant: TenantId): boolean {
    return this.#limitOf(tenant) !== null;
  }

  /** Whether there may be more tenants with a limit than this process knows. */
  get areLimitsCut(): boolean {
    return this.#areLimitsCut;
  }

  running(tenant: TenantId): number {
    return this.#running.get(tenant) ?? 0;
  }

  begin(tenant: TenantId): void {
    add(this.#running, tenant, 1);
    if (this.#promised.has(tenant)) add(this.#promised, tenant, -1);
    else if (this.#waiting.has(tenant)) add(this.#waiting, tenant, -1);
    this.#startedAt.delete(tenant);
    this.#startedAt.set(tenant, (this.#starts += 1));
    const [oldest] = this.#startedAt.keys();
    if (this.#startedAt.size > MOST && oldest !== undefined) this.#startedAt.delete(oldest);
  }

  /** `isLeaving`: the run was asked to leave. */
  end(tenant: TenantId, isLeaving: boolean): void {
    add(this.#running, tenant, -1);
    if (isLeaving && this.#leaving.has(tenant)) add(this.#leaving, tenant, -1);
  }

  /** The tenant whose turn it is; null: there are none, or those that there are have their limit here. */
  first(tenants: Iterable<TenantId>): TenantId | null {
    let first: TenantId | null = null;
    for (const tenant of tenants)
      if (!this.#isFull(tenant) && (first === null || this.#isBefore(tenant, first))) first = tenant;
    return first;
  }

  /** How many contexts of each tenant wait for a slot. */
  noteWaiting(waiting: ReadonlyMap<TenantId, number>): void {
    this.#notedAt = performance.now();
    this.#waiting.clear();
    // No run leaves its slot for a context that its tenant's limit keeps from it.
    for (const [tenant, count] of waiting) {
      const next = Math.min(count, this.#room(tenant));
      if (next > 0) this.#waiting.set(tenant, next);
    }
    this.#promised.clear();
    this.#leaving.clear();
  }

  /**
   * Whether a run of this tenant should leave its slot, because a context of a tenant that runs fewer here, for its
   * weight, waits for one. Each waiting context is promised one slot only.
   */
  yields(tenant: TenantId): boolean {
    if (performance.now() - this.#notedAt > NOTED_MS) return false;
    const own = this.#share(tenant, this.running(tenant) - (this.#leaving.get(tenant) ?? 0));
    for (const other of this.#waiting.keys()) {
      if (other === tenant || this.#share(other, this.running(other) + (this.#promised.get(other) ?? 0)) >= own)
        continue;
      add(this.#waiting, other, -1);
      add(this.#promised, other, 1);
      add(this.#leaving, tenant, 1);
      return true;
    }
    return false;
  }

  #limitOf(tenant: TenantId): number | null {
    return this.#limits.get(tenant) ?? this.#ofFile;
  }

  /** How many more of its contexts may run, as far as this process alone knows: a claim counts over all. */
  #room(tenant: TenantId): number {
    const limit = this.#limitOf(tenant);
    const running = this.running(tenant) - (this.#leaving.get(tenant) ?? 0);
    return limit === null ? Infinity : limit - running;
  }

  #isFull(tenant: TenantId): boolean {
    return this.#room(tenant) <= 0;
  }

  #share(tenant: TenantId, count: number): number {
    return count / (this.#weights.get(tenant) ?? 1);
  }

  #isBefore(one: TenantId, other: TenantId): boolean {
    const difference = this.#share(one, this.running(one)) - this.#share(other, this.running(other));
    if (difference !== 0) return difference < 0;
    return (this.#startedAt.get(one) ?? 0) < (this.#startedAt.get(other) ?? 0);
  }
}

function add(counts: Map<TenantId, number>, tenant: TenantId, count: number): void {
  const sum = (counts.get(tenant) ?? 0) + count;
  if (sum === 0) counts.delete(tenant);
  else counts.set(tenant, sum);
}
