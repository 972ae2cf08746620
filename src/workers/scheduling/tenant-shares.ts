/**
 * How the slots of a process are shared between tenants, and those of a tenant between its users. Contexts without a user
 * count as those of one more user.
 */
import type { UserOrNone } from '../../core/access/user.ts';
import type { TenantId } from '../../core/ids.ts';
import { Shares } from './shares.ts';

/** Tenants of which the last starts of users are remembered, beside those that run something here. */
const MOST = 1_000;

/** To whom a run leaves its slot: to another tenant, or to another user of its tenant. */
export type LeavesTo = 'tenant' | 'user';

export class TenantShares {
  readonly #tenants: Shares<TenantId>;
  /** The tenant with the latest start last. */
  readonly #users = new Map<TenantId, Shares<UserOrNone>>();

  /** Of those whose weight is not 1. */
  #weights: ReadonlyMap<TenantId, number> = new Map();

  /** The limit of slots of tenants that have none of their own; null: none. */
  readonly #ofFile: number | null;
  #limits: ReadonlyMap<TenantId, number> = new Map();
  #areLimitsCut = false;

  constructor(slotsOfTenant: number | null = null) {
    this.#ofFile = slotsOfTenant;
    this.#tenants = new Shares({
      weightOf: (tenant) => this.#weights.get(tenant) ?? 1,
      limitOf: (tenant) => this.#limitOf(tenant),
    });
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
    return this.#tenants.running(tenant);
  }

  begin(tenant: TenantId, user: UserOrNone): void {
    this.#tenants.begin(tenant);
    const users = this.#users.get(tenant) ?? new Shares<UserOrNone>();
    users.begin(user);
    this.#users.delete(tenant);
    this.#users.set(tenant, users);
    if (this.#users.size > MOST) this.#forgetOne();
  }

  /** `leavesTo`: for whom the run was asked to leave; null: it was not. */
  end(tenant: TenantId, user: UserOrNone, leavesTo: LeavesTo | null): void {
    this.#tenants.end(tenant, leavesTo === 'tenant');
    this.#users.get(tenant)?.end(user, leavesTo === 'user');
  }

  /** The tenant whose turn it is; null: there are none, or those that there are have their limit here. */
  first(tenants: Iterable<TenantId>): TenantId | null {
    return this.#tenants.first(tenants);
  }

  /** The user of the tenant whose turn it is; null: there are none. */
  firstUser(tenant: TenantId, users: Iterable<UserOrNone>): UserOrNone | null {
    return (this.#users.get(tenant) ?? new Shares<UserOrNone>()).first(users);
  }

  /** The contexts of each tenant, by user, that wait for a slot. */
  noteWaiting(waiting: ReadonlyMap<TenantId, Counted>): void {
    const counts = new Map([...waiting].map(([tenant, byUser]) => [tenant, countsOf(byUser)]));
    this.#tenants.noteWaiting(new Map([...counts].map(([tenant, ofUsers]) => [tenant, sumOf(ofUsers)])));
    for (const [tenant, users] of this.#users) users.noteWaiting(counts.get(tenant) ?? new Map());
  }

  /** Whether a run of this user should leave its slot to a context of another tenant, or of another user of its tenant. */
  yields(tenant: TenantId, user: UserOrNone): LeavesTo | null {
    if (this.#tenants.yields(tenant)) return 'tenant';
    return this.#users.get(tenant)?.yields(user) === true ? 'user' : null;
  }

  #limitOf(tenant: TenantId): number | null {
    return this.#limits.get(tenant) ?? this.#ofFile;
  }

  /** Of those that run nothing here, the one whose last start is the longest ago. */
  #forgetOne(): void {
    for (const tenant of this.#users.keys()) {
      if (this.running(tenant) > 0) continue;
      this.#users.delete(tenant);
      return;
    }
  }
}

type Counted = ReadonlyMap<UserOrNone, { readonly length: number }>;

function countsOf(byUser: Counted): Map<UserOrNone, number> {
  return new Map([...byUser].map(([user, { length }]) => [user, length]));
}

function sumOf(counts: ReadonlyMap<UserOrNone, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
