/**
 * Cancel by filter: context by context, each in a transaction of its own, a few at a time. Interrupted, it is called again
 * and goes on: those that were told are not looked for any more.
 */
import type { ContextId, TenantId } from '../core/ids.ts';
import { contextsWithUnfinished, unfinishedOf } from '../db/unfinished.ts';
import type { UnfinishedFilter } from '../db/unfinished.ts';
import { cancelWithin } from './cancel-job.ts';
import type { CancelWithin } from './cancel-job.ts';
import { mapConcurrent } from './map-concurrent.ts';
import { perform } from './perform.ts';
import type { CommandPorts } from './ports.ts';

/** Contexts that are looked up at once. */
const PAGE = 200;

export type CancelJobs = { tenantId: TenantId; filter: UnfinishedFilter; reason: string | null };

/** How many jobs were told to stop. Contexts that get such jobs meanwhile may be passed over. */
export async function cancelJobs(ports: CommandPorts, wanted: CancelJobs): Promise<{ count: number }> {
  const { tenantId, filter } = wanted;
  let count = 0;
  let page: ContextId[] = [];
  do {
    const after = page.at(-1) ?? null;
    page = await contextsWithUnfinished(ports.database.db, tenantId, filter, after, PAGE);
    await mapConcurrent(page, async (contextId) => {
      const told = await cancelOf(ports, wanted, contextId);
      count += told;
    });
  } while (page.length === PAGE);
  return { count };
}

/** A context that is gone has nothing to cancel. */
async function cancelOf(
  ports: CommandPorts,
  { tenantId, filter, reason }: CancelJobs,
  contextId: ContextId,
): Promise<number> {
  const which: CancelWithin['which'] = (tx) => unfinishedOf(tx, tenantId, contextId, filter);
  const outcome = await perform(ports, cancelWithin(ports, { tenantId, contextId, reason, which }));
  return outcome.kind === 'done' ? outcome.value.told : 0;
}
