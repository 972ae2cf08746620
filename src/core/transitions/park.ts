/** A run releases its context without ending a job. */
import type { Append } from '../run/append.ts';
import type { JobError } from '../errors.ts';
import { failedAgain, type ActiveJob } from '../run/job.ts';
import type { Mailbox } from '../run/snapshot.ts';
import type { Millis } from '../time.ts';
import { blank, stateChange } from './base.ts';

/** Nothing left to do. Guarded by both counters, so that no wake-up and no stop request is missed. */
export function rest(mailbox: Mailbox): Append {
  const to = mailbox.stopped ? 'Stopped' : mailbox.state === 'PermanentFailure' ? 'PermanentFailure' : 'Idle';
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: mailbox.wakeSeq },
    entries: stateChange(mailbox.state, to, null),
    state: to,
    park: { status: 'idle' },
  };
}

/** The last model call failed and is retried at `at`. The wait itself is the next decision. */
export function delay(mailbox: Mailbox, job: ActiveJob, failure: JobError, at: Millis): Append {
  return {
    ...blank(mailbox),
    entries: stateChange(mailbox.state, 'TransientFailure', job.id),
    job: { kind: 'progress', job: failedAgain(job, failure, at) },
    state: 'TransientFailure',
  };
}

/** Waits without a slot. Guarded by `control_seq`: a concurrent stop request must be handled first. */
export function sleep(mailbox: Mailbox, job: ActiveJob, until: Millis): Append {
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
    job: { kind: 'progress', job: { ...job, status: 'waiting' } },
    park: { status: 'waiting', until },
  };
}

/**
 * Calls to the model are throttled, which `job` says: the run tries again at `at`, without a slot in between. No attempt was made,
 * so no failure is counted and the claim does not count either. Guarded like `sleep`.
 */
export function throttledUntil(mailbox: Mailbox, job: ActiveJob, at: Millis): Append {
  const waiting: ActiveJob = { ...job, status: 'waiting', retryAt: at };
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
    entries: stateChange(mailbox.state, 'TransientFailure', job.id),
    job: { kind: 'progress', job: waiting },
    state: 'TransientFailure',
    park: { status: 'waiting', until: job.deadline === null ? at : Math.min(at, job.deadline) },
    progress: 'returned',
  };
}

/**
 * How long a context that this process does not support is left to other processes before it is checked again, in
 * milliseconds.
 */
const UNSUPPORTED_MS = 1_000;

/** This process lacks what the context needs. */
export function releaseUnsupported(mailbox: Mailbox, now: Millis): Append {
  return releaseUntil(mailbox, now + UNSUPPORTED_MS);
}

/**
 * Another process continues: at once (`until` null), because this one stops, or later. Guarded by `control_seq`: a stop
 * request must be handled first; between two jobs by `wake_seq` too, because the next one decides the priority of the
 * context. The job's status is `waiting`: no model call of it is in flight.
 */
export function releaseUntil(mailbox: Mailbox, until: Millis | null): Append {
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: mailbox.job === null ? mailbox.wakeSeq : null },
    job: mailbox.job === null ? null : { kind: 'progress', job: { ...mailbox.job, status: 'waiting' } },
    park: until === null ? { status: 'runnable' } : { status: 'waiting', until },
    progress: 'returned',
  };
}
