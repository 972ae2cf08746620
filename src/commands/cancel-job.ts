/**
 * Cancel: the wish is durable before anybody is told. A queued job is withdrawn, one that nobody runs is settled here and
 * now, a running one is left to its holder, who is summoned; a sweep settles where the holder does not answer.
 */
import { refuse } from '../core/errors.ts';
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import { isFinished } from '../core/job.ts';
import { activeJob, jobPlace } from '../db/job-views.ts';
import { callUp, wish, withdraw } from '../db/wishes.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';
import type { CommandPorts } from './ports.ts';
import { carryOut } from './settle.ts';

export type CancelJob = { tenantId: TenantId; jobId: JobId; reason: string | null };

/** In a transaction. Refused: `not_found`. An ended job stays as it is. */
export function cancelJob(
  { ids, times, stopGraceMs }: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  { tenantId, jobId, reason }: CancelJob,
): Command<{ contextId: ContextId }> {
  return async (tx) => {
    const before = await jobPlace(tx, tenantId, jobId);
    if (before === null) return refuse('not_found', `There is no job ${jobId}.`);
    const { contextId } = before;
    if (isFinished(before.status)) return done({ contextId });
    const called = await callUp(tx, tenantId, contextId, times);
    if (called === null) return refuse('not_found', `There is no job ${jobId}.`);
    const withdrawn = await withdraw(tx, tenantId, contextId, jobId, 'cancelled', reason);
    if (withdrawn !== null) {
      const finished = { jobId, status: 'cancelled' } as const;
      return done(
        { contextId },
        { kind: 'progress', progress: { contextId, headSeq: withdrawn.headSeq, finished } },
      );
    }
    // It may have ended while the row's lock was waited for: whoever runs by now is not to be disturbed.
    if ((await activeJob(tx, tenantId, contextId)) !== jobId) return done({ contextId });
    await wish(tx, tenantId, jobId, { kind: 'cancel' }, reason, stopGraceMs);
    return done({ contextId }, ...(await carryOut(tx, contextId, called, ids)));
  };
}
