/**
 * Stop cancels the running job and refuses new input; queued jobs stay queued. Start lets the worker go on. Both also
 * reach the workers below: see cascade.ts.
 */
import type { Actor } from '../../core/access/actor.ts';
import { refuse } from '../../core/errors.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { lockCalls } from '../../db/calls/awaited.ts';
import type { Executor } from '../../db/connection/client.ts';
import { askedByWorkers, markStop, unmarkStop } from '../../db/run/follow-ups/cascades.ts';
import { activeJob } from '../../db/read/jobs/job-views.ts';
import { lockForControl, setStopped, withdraw, writeStopRequest, type Why } from '../../db/run/stop-requests.ts';
import { progressTo, wakeUpIfRunnable, withdrawnActions, type AfterCommit } from '../after-commit.ts';
import { noContext } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { carryOut } from '../jobs/settle.ts';

type Target = { tenantId: TenantId; contextId: ContextId };

type HowToStop = {
  reason: string;
  /** Who stops it; null: not known. */
  by: Actor | null;
  /** Checked before the context's row is locked. It may lock the rows that it reads: these lie above this context. */
  may: (tx: Executor) => Promise<boolean>;
  /** Whether queued jobs that workers asked for are kept or cancelled. */
  asked: 'keep' | 'cancel';
};

const BY_ITSELF: Omit<HowToStop, 'by'> = { reason: 'the worker was stopped', may: async () => true, asked: 'keep' };

/** Idempotent. Refused: `not_found`, `context_busy` (`may` returned false). */
export function stopWorker(
  { ids, times, stopGraceMs }: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  { tenantId, contextId }: Target,
  { by, ...how }: Pick<HowToStop, 'by'> & Partial<HowToStop>,
): Command<Target> {
  const { reason, may, asked } = { ...BY_ITSELF, ...how };
  return async (tx) => {
    if (!(await may(tx)))
      return refuse('context_busy', 'The worker above was started again, so this one is not stopped.');
    const locked = await lockForControl(tx, tenantId, contextId, times);
    if (locked === null) return noContext({ contextId });
    const stopped = await setStopped(tx, tenantId, contextId, true);
    const isMarked = await markStop(tx, tenantId, contextId);
    const withdrawn = asked === 'cancel' ? await withdrawAsked(tx, { tenantId, contextId }, { reason, by }) : [];
    const jobId = await activeJob(tx, tenantId, contextId);
    if (jobId !== null)
      await writeStopRequest(tx, tenantId, jobId, {
        request: { kind: 'stop' },
        reason,
        by,
        graceMs: stopGraceMs,
      });
    const afterCommit = await carryOut(tx, contextId, locked, ids);
    if (isMarked) afterCommit.push({ kind: 'follow_up' });
    return done({ tenantId, contextId }, ...withdrawn, ...afterCommit, progressTo(contextId, stopped.headSeq));
  };
}

async function withdrawAsked(tx: Executor, { tenantId, contextId }: Target, why: Why): Promise<AfterCommit[]> {
  // Queued jobs and the running job end in two statements, so their calls are locked first.
  await lockCalls(tx, tenantId, contextId);
  const queued = await askedByWorkers(tx, tenantId, contextId);
  const withdrawn = await withdraw(tx, { tenantId, contextId }, queued, why);
  return withdrawn === null ? [] : withdrawnActions({ tenantId, contextId }, withdrawn);
}

/** Idempotent. Refused: `not_found`, `context_busy`. */
export function startWorker(
  { times }: Pick<CommandPorts, 'times'>,
  { tenantId, contextId }: Target,
  may: HowToStop['may'] = BY_ITSELF.may,
): Command<Target> {
  return async (tx) => {
    if (!(await may(tx)))
      return refuse('context_busy', 'The worker above was stopped again, so this one is not started.');
    const locked = await lockForControl(tx, tenantId, contextId, times);
    if (locked === null) return noContext({ contextId });
    await unmarkStop(tx, tenantId, contextId);
    const started = await setStopped(tx, tenantId, contextId, false);
    const actions = [...wakeUpIfRunnable(contextId, started), progressTo(contextId, started.headSeq)];
    return done({ tenantId, contextId }, ...actions);
  };
}
