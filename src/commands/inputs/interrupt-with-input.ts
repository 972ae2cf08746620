/**
 * Delivery `interrupt`: the running job is interrupted, its answer is discarded, and the input is next.
 *
 * - Checked: the context's row is locked for control; then the branch, if one is named.
 * - Written: a job ahead of all queued ones, `jobs.submit`, and a stop request on the running job. If no process runs
 *   that job, it is settled in the same transaction.
 * - After the commit: a control signal to the process that runs the job, or the actions that follow its end. If there is
 *   no such job: a wake-up.
 * - Receipt: the new job, which is queued.
 */
import { activeJob } from '../../db/read/jobs/job-views.ts';
import { lockForControl, writeStopRequest } from '../../db/run/stop-requests.ts';
import { carryOut } from '../jobs/settle.ts';
import type { Command } from '../perform.ts';
import { enqueueInput } from './enqueue.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';
import { branchMissing, whyRefused } from './refusals.ts';

/** Ahead of all queued jobs. */
const FIRST = 0;

export function interruptWithInput({ ids, times, stopGraceMs }: SubmitPorts, input: SubmitInput): Command<Accepted> {
  return async (tx) => {
    const { tenantId, contextId, by } = input;
    const locked = await lockForControl(tx, tenantId, contextId, times);
    if (locked === null) return whyRefused(tx, input);
    const refusal = await branchMissing(tx, input);
    if (refusal !== null) return refusal;
    const queued = await enqueueInput(tx, ids, { ...input, priority: FIRST });
    if (queued.kind === 'refused') return queued;
    const running = await activeJob(tx, tenantId, contextId);
    if (running === null) return queued;
    await writeStopRequest(tx, tenantId, running, {
      request: { kind: 'interrupt', mode: 'discard' },
      reason: null,
      by,
      graceMs: stopGraceMs,
    });
    return { ...queued, afterCommit: await carryOut(tx, contextId, locked, ids) };
  };
}
