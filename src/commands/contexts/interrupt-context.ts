/**
 * Interrupts the current job: it ends, and its answer is retracted, or kept as far as it was finished. The current job
 * is the admitted one, else the first of the queue. The stop request is committed before any process is notified.
 */
import type { ContextId, JobId, TenantId } from '../../core/ids.ts';
import type { Actor } from '../../core/access/actor.ts';
import type { InterruptMode } from '../../core/run/job.ts';
import { currentJob } from '../../db/read/jobs/job-views.ts';
import { lockForControl, writeStopRequest } from '../../db/run/stop-requests.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { noContext } from '../inputs/refusals.ts';
import { carryOut } from '../jobs/settle.ts';

type InterruptContext = { tenantId: TenantId; contextId: ContextId; mode: InterruptMode; by: Actor | null };

/** `jobId` null: there was nothing to interrupt. Refused: `not_found`. */
export function interruptContext(
  { ids, times, stopGraceMs }: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  { tenantId, contextId, mode, by }: InterruptContext,
): Command<{ jobId: JobId | null }> {
  return async (tx) => {
    const locked = await lockForControl(tx, tenantId, contextId, times);
    if (locked === null) return noContext({ contextId });
    const jobId = await currentJob(tx, tenantId, contextId);
    if (jobId === null) return done({ jobId });
    await writeStopRequest(tx, tenantId, jobId, {
      request: { kind: 'interrupt', mode },
      reason: null,
      by,
      graceMs: stopGraceMs,
    });
    return done({ jobId }, ...(await carryOut(tx, contextId, locked, ids)));
  };
}
