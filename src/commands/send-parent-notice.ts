/**
 * The end of a job that nobody waits for is told to the worker that asked for it: as an input message, once. The mark goes
 * in the transaction that queues the input; a worker that takes none now is told later.
 */
import { refuse } from '../core/errors.ts';
import type { JobId, MessageId } from '../core/ids.ts';
import { reportWords } from '../core/peer-words.ts';
import { lockContext } from '../db/branches.ts';
import { takeParentNotice } from '../db/follow-ups.ts';
import type { FollowUp } from '../db/follow-ups.ts';
import { submit } from '../db/submit.ts';
import { done } from './perform.ts';
import type { Command, AfterCommit } from './perform.ts';
import type { CommandPorts } from './ports.ts';
import { NORMAL, whyRefused } from './submit-input.ts';

/** In a transaction. Refused: `worker_stopped`, `queue_full`, and `not_waiting` where it is told already, or by a call. */
export function sendParentNotice(
  { ids }: Pick<CommandPorts, 'ids'>,
  { tenantId, jobId: endedId, to }: Extract<FollowUp, { kind: 'parent_notice' }>,
  queueLimit: number,
): Command<object> {
  return async (tx) => {
    const isThere = to !== null && (await lockContext(tx, { tenantId, contextId: to }));
    const ending = await takeParentNotice(tx, { tenantId, jobId: endedId }, to);
    if (ending === null) return refuse('not_waiting', 'Nobody waits to be told of this end.');
    if (!isThere) return done({});
    const jobId = ids.next<JobId>();
    const { workerId, workerName, hops } = ending;
    const content = reportWords({ id: workerId, name: workerName }, { ...ending, jobId: endedId });
    const submitted = await submit(
      tx,
      {
        tenantId,
        contextId: to,
        jobId,
        input: { messageId: ids.next<MessageId>(), content },
        compaction: null,
        branch: null,
        priority: NORMAL,
        metadata: {},
        maxSteps: null,
        deadline: null,
        mayAnswer: false,
        onlyIfIdle: false,
        queueLimit,
      },
      {
        workerId,
        hops: hops + 1,
        parentJobId: null,
        toolCallId: null,
        notifyParent: false,
        noticeOfJobId: endedId,
      },
    );
    if (submitted === null) return whyRefused(tx, { tenantId, contextId: to, queueLimit });
    const { wakeSeq, epoch, runnable } = submitted;
    const wakeUps: AfterCommit[] = runnable
      ? [{ kind: 'wake_up', wakeUp: { contextId: to, wakeSeq, epoch } }]
      : [];
    return done({}, ...wakeUps);
  };
}
