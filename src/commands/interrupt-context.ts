/**
 * Interrupt: the current job ends and its answer is taken back, or kept as far as it was finished. Current is the one
 * that was admitted, else the first of the queue. The wish is durable before anybody is told.
 */
import { refuse } from '../core/errors.ts';
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import type { InterruptMode } from '../core/job.ts';
import { currentJob } from '../db/job-views.ts';
import { lockForControl, stopRequest } from '../db/stop-requests.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';
import type { CommandPorts } from './ports.ts';
import { carryOut } from './settle.ts';

export type InterruptContext = { tenantId: TenantId; contextId: ContextId; mode: InterruptMode };

/** In a transaction. `jobId` null: there was nothing to interrupt. Refused: `not_found`. */
export function interruptContext(
  { ids, times, stopGraceMs }: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  { tenantId, contextId, mode }: InterruptContext,
): Command<{ jobId: JobId | null }> {
  return async (tx) => {
    const called = await lockForControl(tx, tenantId, contextId, times);
    if (called === null) return refuse('not_found', `There is no context ${contextId}.`);
    const jobId = await currentJob(tx, tenantId, contextId);
    if (jobId === null) return done({ jobId });
    await stopRequest(tx, tenantId, jobId, { kind: 'interrupt', mode }, null, stopGraceMs);
    return done({ jobId }, ...(await carryOut(tx, contextId, called, ids)));
  };
}
