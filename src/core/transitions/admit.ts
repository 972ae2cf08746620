/** A queued job becomes the running job, or the running job continues under a new lease. */
import type { Append } from '../run/append.ts';
import { NO_USAGE } from '../money/usage.ts';
import { unanswered, type ActiveJob, type QueuedJob } from '../run/job.ts';
import { lastTurnOf, type Message } from '../conversation/message.ts';
import type { Mailbox, Snapshot } from '../run/snapshot.ts';
import { inputTurn } from '../conversation/turn.ts';
import { blank, event, stateChange } from './base.ts';

/**
 * An input takes the next turn; a retry answers the last turn again; a compaction takes none. Guarded: a withdrawn
 * input must not be admitted. Does not count as progress, so that a job that kills its process before its first step
 * is detected.
 */
export function admit(
  snapshot: Mailbox & { history: readonly Pick<Message, 'role' | 'turn'>[] },
  next: QueuedJob,
): Append {
  if (next.branch !== snapshot.activeBranch)
    throw new Error('The job to admit belongs to another branch than the history that was read.');
  const last = lastTurnOf(snapshot.history);
  const job: ActiveJob = {
    id: next.id,
    kind: next.kind,
    status: 'running',
    branch: next.branch,
    turn: turnOf(next, last),
    attempt: 1,
    failures: 0,
    retryAt: null,
    lastFailure: null,
    steps: 0,
    maxSteps: next.maxSteps,
    outputSchema: next.outputSchema,
    corrections: 0,
    deadline: next.deadline,
    usage: NO_USAGE,
    stopRequest: next.stopRequest,
    asked: next.kind === 'compact' ? next.asked : null,
    metadata: next.metadata,
    user: next.user,
    traceParent: next.traceParent,
  };
  return {
    ...blank(snapshot),
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [
      event({ name: 'JobStarted', data: { job_id: job.id, status: 'running', attempt: 1 } }),
      ...(next.kind === 'input'
        ? [{ kind: 'admit', messageId: next.messageId, turn: inputTurn(job.turn) } as const]
        : []),
      ...stateChange(snapshot.state, 'ProcessingUserMessage', job.id),
      ...stateChange('ProcessingUserMessage', 'AwaitingLLMResponse', job.id),
    ],
    job: { kind: 'admit', job },
    state: 'AwaitingLLMResponse',
    progress: 'none',
  };
}

function turnOf({ kind }: QueuedJob, last: number): number {
  switch (kind) {
    case 'input':
      return last + 1;
    case 'retry':
    case 'compact':
      return last;
  }
}

/**
 * The job continues under this lease and inputs join it. A model call that an earlier run started is made again after
 * them, with another prompt: the text published for it is void.
 */
export function goOn(snapshot: Snapshot, job: ActiveJob): Append {
  return {
    ...blank(snapshot),
    job: { kind: 'progress', job: { ...continued(job, true), status: 'running' } },
    progress: 'none',
  };
}

/**
 * The job continues under this lease. If an earlier run did not release the job, its status is still `running`; a
 * model call may have been started then, so the next one is a new attempt.
 */
export function resume(snapshot: Snapshot, job: ActiveJob, to: 'AwaitingLLMResponse' | 'ExecutingTools'): Append {
  return {
    ...blank(snapshot),
    entries: stateChange(snapshot.state, to, job.id),
    job: {
      kind: 'progress',
      job: { ...continued(job, to === 'AwaitingLLMResponse'), status: 'running', retryAt: null },
    },
    state: to,
    progress: 'none',
  };
}

/** A model call that an earlier run may have started makes a new attempt; the end of a wait does not. */
function continued(job: ActiveJob, callsNext: boolean): ActiveJob {
  return callsNext && job.status === 'running' ? unanswered(job) : job;
}
