/**
 * A job ends: what is open is closed by rule, inputs that waited to join it enter history with it, the verdict is written,
 * the context is given back. Needs only the mailbox, so that whoever settles for a dead owner need not read history.
 */
import type { Append } from '../append.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob, Verdict } from '../job.ts';
import type { NewMessage } from '../message.ts';
import type { Mailbox } from '../snapshot.ts';
import type { DurableState } from '../state.ts';
import { blank, event, stateChange } from './base.ts';
import { joining } from './steer.ts';
import { closedWithJob, closing, released, resultEntries } from './tools.ts';

/**
 * `output`: the answer that ends the job, where it is not stored yet. Guarded by `control_seq`, and by `wake_seq` where
 * nothing is queued and the context is given back in the same append.
 */
export function settle(
  mailbox: Mailbox,
  job: ActiveJob,
  verdict: Verdict,
  ids: Ids,
  output: NewMessage | null = null,
): Append {
  const closed = mailbox.calls.map(closedWithJob);
  const more = mailbox.queued > 0 && !mailbox.stopped;
  const end = endState(mailbox, verdict);
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: more ? null : mailbox.wakeSeq },
    entries: [
      ...resultEntries(job, closed, ids),
      ...(output === null ? [] : [{ kind: 'message', message: output } as const]),
      ...joining(mailbox, job),
      event({ name: 'JobFinished', data: { job_id: job.id, status: verdict.status, attempt: job.attempt } }),
      ...stateChange(mailbox.state, end, null),
    ],
    calls: closed.map(closing),
    released: released(closed),
    job: { kind: 'settle', job, verdict },
    state: end,
    park: more ? null : { status: 'idle' },
    failure: failureOf(job, verdict),
  };
}

function endState(mailbox: Mailbox, verdict: Verdict): DurableState {
  if (mailbox.stopped) return 'Stopped';
  return verdict.status === 'failed' ? 'PermanentFailure' : 'Idle';
}

function failureOf(job: ActiveJob, verdict: Verdict): Append['failure'] {
  switch (verdict.status) {
    case 'failed':
      return { ...verdict.error, jobId: job.id };
    case 'completed':
      return 'clear';
    case 'incomplete':
    case 'cancelled':
    case 'interrupted':
      return 'keep';
  }
}
