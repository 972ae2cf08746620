/** The lists of runnable contexts that a process chooses from. */
import pTimeout from 'p-timeout';
import type { TenantId } from '../../core/ids.ts';
import { DATABASE_TIMEOUT } from '../../db/batches/database-timeout.ts';
import { readRunnable, type AfterUser, type Found } from '../../db/run/runnable.ts';
import type { WorkerState } from '../process/ports.ts';

type Asked = { perTenant: number; onlyOverdue: boolean };
export type Reader = (asked: Asked) => Promise<Pick<Found, 'waiting' | 'hasMore'>>;

type Reading = Pick<WorkerState, 'abilities' | 'database' | 'registry' | 'clock' | 'log'> & { identity: () => unknown };

/** If not all tenants, or not all users of a tenant, fit into one answer, the next one goes on with the others. */
export function createReader({ abilities, database, registry, clock, identity, log }: Reading): Reader {
  let after: TenantId | null = null;
  let afterUser: AfterUser = new Map();
  return async (asked) => {
    if (identity() === null) return { waiting: new Map(), hasMore: false };
    const passBy = registry.unsupported.passedBy(clock.now());
    const all = { ...asked, passBy, slotsOfTenant: abilities.team.tenantLimits.slots };
    const read = () => pTimeout(readRunnable(database.db, { ...all, after, afterUser }), DATABASE_TIMEOUT);
    try {
      let found = await read();
      if (found.waiting.size === 0 && after !== null) {
        after = null;
        found = await read();
      }
      // Tenants of other answers go on with the users that they left off with.
      const isWhole = after === null && found.last === null;
      afterUser = isWhole ? found.afterUser : new Map([...afterUser, ...found.afterUser]);
      after = found.last;
      return found;
    } catch (error) {
      log.warn({ err: error }, 'could not read which contexts are runnable');
      throw error;
    }
  };
}
