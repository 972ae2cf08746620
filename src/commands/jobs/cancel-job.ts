/**
 * Cancels a job. The stop request is committed before any process is notified. A delayed or queued job is withdrawn, and
 * a job that no process runs is settled at once. A running job is left to its run, which gets a control signal; if the
 * run does not answer, a sweep settles the job.
 */
import { refuse } from '../../core/errors.ts';
import type { ContextId, JobId, TenantId } from '../../core/ids.ts';
import { isFinished } from '../../core/run/job.ts';
import { lockCalls } from '../../db/calls/awaited.ts';
import type { Executor } from '../../db/connection/client.ts';
import { activeJob, jobPlace } from '../../db/read/jobs/job-views.ts';
import { lockForControl, writeStopRequest, withdraw, type Why } from '../../db/run/stop-requests.ts';
import { withdrawnActions } from '../after-commit.ts';
import { noContext } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { carryOut } from './settle.ts';

type CancelJob = Why & { tenantId: TenantId; jobId: JobId };

type Ports = Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>;

/** Refused: `not_found`. A job that has ended does not change. */
export function cancelJob(ports: Ports, { tenantId, jobId, reason, by }: CancelJob): Command<{ contextId: ContextId }> {
  return async (tx) => {
    const before = await jobPlace(tx, tenantId, jobId);
    if (before === null) return refuse('not_found', `No job has the id ${jobId}.`);
    const { contextId } = before;
    if (isFinished(before.status)) return done({ contextId });
    const cancel = cancelWithin(ports, { tenantId, contextId, reason, by, which: async () => [jobId] });
    const outcome = await cancel(tx);
    if (outcome.kind === 'refused') return refuse('not_found', `No job has the id ${jobId}.`);
    return done({ contextId }, ...outcome.afterCommit);
  };
}

export type CancelWithin = Why & {
  tenantId: TenantId;
  contextId: ContextId;
  /** Called once the context's row is locked: no job of it begins or ends meanwhile. */
  which: (tx: Executor) => Promise<readonly JobId[]>;
};

/** Cancels jobs of one context, all that are delayed or queued in one statement. Refused: `not_found`. */
export function cancelWithin(
  { ids, times, stopGraceMs }: Ports,
  { tenantId, contextId, reason, by, which }: CancelWithin,
): Command<{ requested: number }> {
  return async (tx) => {
    const locked = await lockForControl(tx, tenantId, contextId, times);
    if (locked === null) return noContext({ contextId });
    // Queued jobs and the running job end in two statements, so their calls are locked first.
    await lockCalls(tx, tenantId, contextId);
    const jobIds = await which(tx);
    const withdrawn = await withdraw(tx, { tenantId, contextId }, jobIds, { reason, by });
    const taken = withdrawn?.jobIds ?? [];
    const actions = withdrawn === null ? [] : withdrawnActions({ tenantId, contextId }, withdrawn);
    if (taken.length === jobIds.length) return done({ requested: taken.length }, ...actions);
    // The job may have ended while this waited for the row's lock. Another job that runs by now must not be stopped.
    const active = await activeJob(tx, tenantId, contextId);
    if (active === null || !jobIds.includes(active)) return done({ requested: taken.length }, ...actions);
    await writeStopRequest(tx, tenantId, active, {
      request: { kind: 'cancel' },
      reason,
      by,
      graceMs: stopGraceMs,
    });
    return done({ requested: taken.length + 1 }, ...actions, ...(await carryOut(tx, contextId, locked, ids)));
  };
}
