/**
 * A call queues an input in a context of its tenant (`context.enqueue` of a tool).
 *
 * - Checked: the context is that of the call, or one of the user of the job, if the job has one; the limits of queue, tenant
 *   and hops; the call goes on.
 * - Written: the job and its input, and the step of the call.
 * - After the commit: a wake-up, if the context is due and no process runs it.
 * - Receipt: the result of the step, also of one that an earlier execution stored.
 */
import { limitsOf } from '../../core/access/quotas.ts';
import { refuse } from '../../core/errors.ts';
import type { JobId, MessageId, WorkerId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import type { AskedInput } from '../../core/tools/starts.ts';
import type { PeerLimits } from '../../core/workers/peer-limits.ts';
import { passedOnTooOften } from '../../core/workers/peer-messages.ts';
import { findOwner, sendingJob } from '../../db/write/workers/peers.ts';
import { PLAIN_JOB, enqueue } from '../inputs/enqueue.ts';
import { noContext } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { whyFull } from '../tenants/within-quota.ts';
import { holdJob, startedBefore, storeStarted, type StartingCall } from './started-step.ts';

/** Refused: `not_found`, `worker_stopped`, `queue_full`, `quota_exceeded`, `worker_limit`. Throws `CallEnded`. */
export function enqueueFromCall(
  { ids }: Pick<CommandPorts, 'ids'>,
  limits: PeerLimits,
  call: StartingCall & { workerId: WorkerId },
  { contextId, input, priority, metadata }: AskedInput,
): Command<Json> {
  return async (tx) => {
    const before = await startedBefore(tx, call);
    if (before !== null) return done(before.value);
    const { tenantId } = call;
    const { hops, user, limits: own } = await sendingJob(tx, tenantId, call.jobId);
    const owner = await findOwner(tx, tenantId, contextId);
    const isOwn = contextId === call.contextId;
    if (owner === null || (!isOwn && user !== null && owner.user !== user)) return noContext({ contextId });
    if (hops + 1 > limits.hops) return refuse('worker_limit', passedOnTooOften(hops, limits.hops));
    const [jobId, messageId] = [ids.next<JobId>(), ids.next<MessageId>()];
    const full = await whyFull(tx, { tenantId, limits: limitsOf(own, limits.tenantLimits) }, { queuedJobs: 1 });
    const { traceParent } = call;
    const message = { messageId, content: textContent(input) };
    const job = { ...PLAIN_JOB, priority, metadata, input: message, jobId, full, traceParent };
    const asker = {
      workerId: call.workerId,
      hops: hops + 1,
      parentJobId: null,
      user,
      toolCallId: null,
      notifyParent: false,
      noticeOfJobId: null,
    };
    const enqueued = await enqueue(tx, { ...job, tenantId, contextId, queueLimit: limits.queuedInputs }, asker);
    if (enqueued.kind === 'refused') return enqueued;
    await holdJob(tx, call);
    const started = { context_id: contextId, job_id: jobId, message_id: messageId };
    await storeStarted(tx, call, started);
    return done<Json>(started, ...enqueued.wakeUps);
  };
}

function textContent(text: string) {
  return [{ type: 'text' as const, text }];
}
