/** What a worker process knows of tenants, from its heartbeats: weights, limits of slots, and which are not active. */
import type { TenantId } from '../../core/ids.ts';
import { MOST_SPECIAL, type SpecialTenant } from '../../db/processes/processes.ts';
import type { TenantShares } from '../scheduling/tenant-shares.ts';
import type { Registry } from './registry.ts';

export class Tenants {
  readonly #shares: Pick<TenantShares, 'setWeights' | 'setLimits'>;
  readonly #registry: Pick<Registry, 'leaveTenants'>;
  #deleting: readonly TenantId[] = [];

  constructor(shares: Pick<TenantShares, 'setWeights' | 'setLimits'>, registry: Pick<Registry, 'leaveTenants'>) {
    this.#shares = shares;
    this.#registry = registry;
  }

  /** Those that are being deleted. */
  get deleting(): readonly TenantId[] {
    return this.#deleting;
  }

  /** Runs of tenants that are not active leave at their next step. A claim of them is refused by its statement. */
  receive(special: readonly SpecialTenant[]): void {
    this.#shares.setWeights(new Map(special.map(({ id, weight }) => [id, weight])));
    const limits = new Map(special.flatMap(({ id, slots }) => (slots === null ? [] : [[id, slots]])));
    this.#shares.setLimits(limits, special.length >= MOST_SPECIAL);
    const stopped = special.filter(({ status }) => status !== 'active');
    if (stopped.length > 0) this.#registry.leaveTenants(new Set(stopped.map(({ id }) => id)));
    this.#deleting = stopped.flatMap(({ id, status }) => (status === 'deleting' ? [id] : []));
  }
}
