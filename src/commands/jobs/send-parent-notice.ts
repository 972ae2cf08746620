/**
 * Reports the end of a job to the worker that asked for it, unless a call of it waits for the job: as an input message,
 * once. The transaction that queues the input also clears the mark. A worker that accepts no input now gets the notice
 * later.
 */
import { refuse } from '../../core/errors.ts';
import type { JobId, MessageId } from '../../core/ids.ts';
import { reportMessage } from '../../core/workers/peer-messages.ts';
import { lockContext } from '../../db/write/contexts/branches.ts';
import { takeParentNotice } from '../../db/run/follow-ups/parent-notices.ts';
import type { FollowUp } from '../../db/run/follow-ups/follow-ups.ts';
import { PLAIN_JOB, enqueue } from '../inputs/enqueue.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

/**
 * Refused: `worker_stopped`, `queue_full`, and `not_waiting` if the end was already reported, or a
 * call reports it.
 */
export function sendParentNotice(
  { ids }: Pick<CommandPorts, 'ids'>,
  { tenantId, jobId: endedId, to }: Extract<FollowUp, { kind: 'parent_notice' }>,
  queueLimit: number,
): Command<object> {
  return async (tx) => {
    const isThere = to !== null && (await lockContext(tx, { tenantId, contextId: to }));
    const ending = await takeParentNotice(tx, { tenantId, jobId: endedId }, to);
    if (ending === null)
      return refuse('not_waiting', 'The end of this job was already reported, or a tool call reports it.');
    if (!isThere) return done({});
    const jobId = ids.next<JobId>();
    const { workerId, workerName, hops, user } = ending;
    const content = reportMessage({ id: workerId, name: workerName }, { ...ending, jobId: endedId });
    const input = { messageId: ids.next<MessageId>(), content };
    const enqueued = await enqueue(
      tx,
      { ...PLAIN_JOB, tenantId, contextId: to, jobId, input, queueLimit },
      {
        workerId,
        hops: hops + 1,
        parentJobId: null,
        user,
        toolCallId: null,
        notifyParent: false,
        noticeOfJobId: endedId,
      },
    );
    return enqueued.kind === 'refused' ? enqueued : done({}, ...enqueued.wakeUps);
  };
}
