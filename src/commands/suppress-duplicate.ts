/**
 * If a tool result is about to report the end of a job, the parent notice of that job is suppressed: the mark is
 * cleared, and a notice that is still queued is withdrawn. This is done before the call is closed: if the process dies
 * in between, the next run reads the same ends again.
 */
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import { lockContext } from '../db/write/contexts/branches.ts';
import { dropReports, hasReports } from '../db/run/follow-ups/parent-notices.ts';
import { withdraw } from '../db/run/stop-requests.ts';
import { dispatch, withdrawnActions } from './perform.ts';
import type { CommandPorts } from './ports.ts';

/** `jobIds`: jobs that have ended. Idempotent. */
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
    return withdraw(tx, { tenantId, contextId }, queued, 'a tool result reported it');
  });
  if (withdrawn !== null) dispatch(ports, withdrawnActions(contextId, withdrawn));
}
