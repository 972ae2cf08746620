/**
 * How the slots of a process are shared between tenants, and those of a tenant between its users. Contexts without a user
 * count as those of one more user.
 */
import type { UserOrNone } from '../../core/access/user.ts';
import type { TenantId } from '../../core/ids.ts';
import { Shares } from './shares.ts';

/** Of how many tenants, and users of one tenant, the last start is remembered. */
const MOST_TENANTS = 10_000;
const MOST_USERS = 1_000;
/** Tenants of which those of users are remembered, beside those that run something here. */
const MOST_WITH_USERS = 200;

/** To whom a run leaves its slot: to another tenant, or to another user of its tenant. */
export type LeavesTo = 'tenant' | 'user';

export class TenantShares {
  readonly #tenants: Shares<TenantId>;
  /** The tenant with the latest start last. */
  readonly #users = new Map<TenantId, Shares<UserOrNone>>();

  /** What waited when it was last noted. */
  #noted: { counts: ReadonlyMap<TenantId, ReadonlyMap<UserOrNone, number>>; at: number } = {
    counts: new Map(),
    at: -Infinity,
  };

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
      most: MOST_TENANTS,
      areNewFirst: true,
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
    const users = this.#usersOf(tenant);
    users.begin(user);
    this.#users.delete(tenant);
    this.#users.set(tenant, users);
    if (this.#users.size > MOST_WITH_USERS) this.#forgetOne();
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
    return this.#usersOf(tenant).first(users);
  }

  /** The contexts of each tenant, by user, that wait for a slot. */
  noteWaiting(waiting: ReadonlyMap<TenantId, Counted>): void {
    const counts = new Map([...waiting].map(([tenant, byUser]) => [tenant, countsOf(byUser)]));
    this.#tenants.noteWaiting(new Map([...counts].map(([tenant, ofUsers]) => [tenant, sumOf(ofUsers)])));
    this.#noted = { counts, at: performance.now() };
    for (const [tenant, users] of this.#users) users.noteWaiting(counts.get(tenant) ?? new Map());
  }

  /**
   * Whether a run of this user should leave its slot to a context of another tenant, or of another user of its tenant.
   * `alsoToUsers` false: for another tenant only.
   */
  yields(tenant: TenantId, user: UserOrNone, alsoToUsers: boolean): LeavesTo | null {
    if (this.#tenants.yields(tenant)) return 'tenant';
    return alsoToUsers && this.#users.get(tenant)?.yields(user) === true ? 'user' : null;
  }

  #usersOf(tenant: TenantId): Shares<UserOrNone> {
    const known = this.#users.get(tenant);
    if (known !== undefined) return known;
    const users = new Shares<UserOrNone>({
      weightOf: () => 1,
      limitOf: () => null,
      most: MOST_USERS,
      areNewFirst: false,
    });
    users.noteWaiting(this.#noted.counts.get(tenant) ?? new Map(), this.#noted.at);
    return users;
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
