/**
 * If a tool result is about to report the end of a job, the parent notice of that job is suppressed: the mark is
 * cleared, and a notice that is still queued is withdrawn. This is done before the call is closed: if the process dies
 * in between, the next run reads the same ends again.
 */
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import { lockContext } from '../db/write/contexts/branches.ts';
import { dropParentNotices, hasParentNotices } from '../db/run/follow-ups/parent-notices.ts';
import { withdraw } from '../db/run/stop-requests.ts';
import { withdrawnActions, type DispatchPorts } from './after-commit.ts';
import { done, perform } from './perform.ts';

/** `jobIds`: jobs that have ended. Idempotent. */
export async function suppressDuplicate(
  ports: DispatchPorts,
  { tenantId, contextId }: { tenantId: TenantId; contextId: ContextId },
  jobIds: readonly JobId[],
): Promise<void> {
  if (jobIds.length === 0 || !(await hasParentNotices(ports.database.db, tenantId, contextId, jobIds))) return;
  await perform(ports, async (tx) => {
    if (!(await lockContext(tx, { tenantId, contextId }))) return done(null);
    const queued = await dropParentNotices(tx, tenantId, contextId, jobIds);
    const withdrawn = await withdraw(tx, { tenantId, contextId }, queued, {
      reason: 'a tool result reported it',
      by: null,
    });
    return done(null, ...(withdrawn === null ? [] : withdrawnActions({ tenantId, contextId }, withdrawn)));
  });
}
