/**
 * A job ends. Open calls are closed with generated results, steered inputs that waited to join it enter history, the
 * outcome is written, and the context is released. Needs only the mailbox, so a process that settles the job of a
 * dead process need not read history.
 */
import type { Append } from '../run/append.ts';
import type { ActiveJob, JobOutcome } from '../run/job.ts';
import type { Mailbox } from '../run/snapshot.ts';
import type { DurableState } from '../run/state.ts';
import { blank, event, stateChange } from './base.ts';
import { joining } from './steer.ts';
import { closedWithJob, closing, released, resultEntries } from './tools.ts';

/**
 * Guarded by `control_seq`; also by `wake_seq` if nothing is queued and the same append releases the context.
 */
export function settle(mailbox: Mailbox, job: ActiveJob, outcome: JobOutcome): Append {
  const closed = mailbox.calls.map(closedWithJob);
  const more = mailbox.queued > 0 && !mailbox.stopped;
  const end = endState(mailbox, outcome);
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: more ? null : mailbox.wakeSeq },
    entries: [
      ...resultEntries(job, closed),
      ...joining(mailbox, job),
      event({ name: 'JobFinished', data: { job_id: job.id, status: outcome.status, attempt: job.attempt } }),
      ...stateChange(mailbox.state, end, null),
    ],
    calls: closed.map(closing),
    released: released(closed),
    job: { kind: 'settle', job, outcome },
    state: end,
    park: more ? null : { status: 'idle' },
    failure: failureOf(job, outcome),
  };
}

function endState(mailbox: Mailbox, outcome: JobOutcome): DurableState {
  if (mailbox.stopped) return 'Stopped';
  return outcome.status === 'failed' ? 'PermanentFailure' : 'Idle';
}

function failureOf(job: ActiveJob, outcome: JobOutcome): Append['failure'] {
  switch (outcome.status) {
    case 'failed':
      return { ...outcome.error, jobId: job.id };
    case 'completed':
      return 'clear';
    case 'incomplete':
    case 'cancelled':
    case 'interrupted':
      return 'keep';
  }
}
