/** The lists of runnable contexts that a process chooses from. */
import pTimeout from 'p-timeout';
import type { UserOrNone } from '../../core/access/user.ts';
import type { TenantId } from '../../core/ids.ts';
import { DATABASE_TIMEOUT } from '../../db/batches/database-timeout.ts';
import { readRunnable, type Found } from '../../db/run/runnable.ts';
import type { WorkerState } from '../process/ports.ts';

/** Tenants whose next user is remembered. */
const MOST_PLACES = 10_000;

type Asked = { perTenant: number; onlyOverdue: boolean };
export type Reader = (asked: Asked) => Promise<Pick<Found, 'byTenant' | 'hasMore'>>;

type Reading = Pick<WorkerState, 'abilities' | 'database' | 'registry' | 'clock' | 'log'> & { identity: () => unknown };

/** If not all tenants, or not all users of a tenant, fit into one answer, the next one goes on with the others. */
export function createReader({ abilities, database, registry, clock, identity, log }: Reading): Reader {
  let after: TenantId | null = null;
  const afterUser = new Map<TenantId, UserOrNone>();
  return async (asked) => {
    if (identity() === null) return { byTenant: new Map(), hasMore: false };
    const passBy = registry.unsupported.passedBy(clock.now());
    const all = { ...asked, passBy, slotsOfTenant: abilities.team.tenantLimits.slots };
    const read = () => pTimeout(readRunnable(database.db, { ...all, after, afterUser }), DATABASE_TIMEOUT);
    try {
      let found = await read();
      if (found.byTenant.size === 0 && after !== null) {
        after = null;
        found = await read();
      }
      for (const [tenant, user] of found.lastUsers)
        if (user === null) afterUser.delete(tenant);
        else afterUser.set(tenant, user);
      after = found.last;
      if (afterUser.size > MOST_PLACES) afterUser.clear();
      return found;
    } catch (error) {
      log.warn({ err: error }, 'could not read which contexts are runnable');
      throw error;
    }
  };
}
