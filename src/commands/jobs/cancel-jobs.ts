/**
 * Cancels jobs by filter: context by context, each in its own transaction, a few at a time. After an interruption,
 * another call continues: it does not select jobs that already have a stop request.
 */
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Why } from '../../db/run/stop-requests.ts';
import { contextsWithUnfinished, unfinishedOf, type UnfinishedFilter } from '../../db/run/unfinished.ts';
import { cancelWithin, type CancelWithin } from './cancel-job.ts';
import { perform } from '../perform.ts';
import { mapConcurrent } from '../map-concurrent.ts';
import type { CommandPorts } from '../ports.ts';

/** Contexts per query. */
const PAGE = 200;

type CancelJobs = Why & { tenantId: TenantId; filter: UnfinishedFilter };

/**
 * Returns how many jobs were withdrawn or got a stop request. Contexts that get matching jobs meanwhile may be missed.
 */
export async function cancelJobs(ports: CommandPorts, wanted: CancelJobs): Promise<{ count: number }> {
  const { tenantId, filter } = wanted;
  let count = 0;
  let page: ContextId[] = [];
  do {
    const after = page.at(-1) ?? null;
    page = await contextsWithUnfinished(ports.database.db, tenantId, filter, { after, limit: PAGE });
    const counts = await mapConcurrent(page, (contextId) => cancelOf(ports, wanted, contextId));
    count += counts.reduce((sum, requested) => sum + requested, 0);
  } while (page.length === PAGE);
  return { count };
}

/** A deleted context has nothing to cancel. */
async function cancelOf(
  ports: CommandPorts,
  { tenantId, filter, reason, by }: CancelJobs,
  contextId: ContextId,
): Promise<number> {
  const which: CancelWithin['which'] = (tx) => unfinishedOf(tx, tenantId, contextId, filter);
  const outcome = await perform(ports, cancelWithin(ports, { tenantId, contextId, reason, by, which }));
  return outcome.kind === 'done' ? outcome.value.requested : 0;
}
