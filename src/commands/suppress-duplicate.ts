/**
 * The end of a job that a call is about to tell is not reported as well: the mark goes, and a report that is still queued is
 * taken back. Before the call is closed: whoever dies in between reads the same ends again.
 */
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import { lockContext } from '../db/branches.ts';
import { dropReports, hasReports } from '../db/follow-ups.ts';
import { withdraw } from '../db/stop-requests.ts';
import { dispatch, withdrawnActions } from './perform.ts';
import type { CommandPorts } from './ports.ts';

/** `jobIds`: they have ended. Repeatable. */
export async function suppressDuplicate(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus'>,
  { tenantId, contextId }: { tenantId: TenantId; contextId: ContextId },
  jobIds: readonly JobId[],
): Promise<void> {
  const { database } = ports;
  if (jobIds.length === 0 || !(await hasReports(database.db, tenantId, contextId, jobIds))) return;
  const withdrawn = await database.transaction(async (tx) => {
    if (!(await lockContext(tx, { tenantId, contextId }))) return null;
    const queued = await dropReports(tx, tenantId, contextId, jobIds);
    return withdraw(tx, tenantId, contextId, queued, 'cancelled', 'a call told of it');
  });
  if (withdrawn !== null) dispatch(ports, withdrawnActions(contextId, withdrawn));
}
