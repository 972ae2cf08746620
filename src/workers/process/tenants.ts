/** What a worker process knows of tenants, from its heartbeats: their weights, and which of them are not active. */
import type { TenantId } from '../../core/ids.ts';
import type { SpecialTenant } from '../../db/processes/processes.ts';
import type { Shares } from '../scheduling/shares.ts';
import type { Registry } from './registry.ts';

export class Tenants {
  readonly #shares: Pick<Shares, 'setWeights'>;
  readonly #registry: Pick<Registry, 'leaveTenants'>;
  #deleting: readonly TenantId[] = [];

  constructor(shares: Pick<Shares, 'setWeights'>, registry: Pick<Registry, 'leaveTenants'>) {
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
    const stopped = special.filter(({ status }) => status !== 'active');
    if (stopped.length > 0) this.#registry.leaveTenants(new Set(stopped.map(({ id }) => id)));
    this.#deleting = stopped.flatMap(({ id, status }) => (status === 'deleting' ? [id] : []));
  }
}
