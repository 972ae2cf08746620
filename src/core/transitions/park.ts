/** A run gives its context back without ending a job. */
import type { Append } from '../append.ts';
import type { JobError } from '../errors.ts';
import type { Throttle } from '../throttle.ts';
import type { ActiveJob } from '../job.ts';
import type { Mailbox } from '../snapshot.ts';
import type { Millis } from '../time.ts';
import { blank, stateChange } from './base.ts';

/** Nothing left to do. Guarded by both counters: no wake-up and no wish is lost. */
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

/** The last model call failed and is made again at `at`. The wait itself is decided next. */
export function delay(mailbox: Mailbox, job: ActiveJob, failure: JobError, at: Millis): Append {
  return {
    ...blank(mailbox),
    entries: stateChange(mailbox.state, 'TransientFailure', job.id),
    job: {
      kind: 'progress',
      job: {
        ...job,
        status: 'running',
        attempt: job.attempt + 1,
        failures: job.failures + 1,
        retryAt: at,
        lastFailure: failure,
      },
    },
    state: 'TransientFailure',
  };
}

/** Waits without a slot. Guarded by `control_seq`: a wish that came meanwhile must be seen first. */
export function sleep(mailbox: Mailbox, job: ActiveJob, until: Millis): Append {
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
    job: { kind: 'progress', job: { ...job, status: 'waiting' } },
    park: { status: 'waiting', until },
  };
}

/**
 * The key of the model is held back: comes again at `at`, without a slot meanwhile. Nothing was attempted and nothing
 * failed: neither is counted, and the claim does not count either. Guarded as `sleep` is.
 */
export function throttledUntil(mailbox: Mailbox, job: ActiveJob, throttle: Throttle, at: Millis): Append {
  const waiting: ActiveJob = { ...job, status: 'waiting', retryAt: at, lastFailure: { throttled: throttle } };
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
 * This process stops, or lacks what the context needs (`until`: when to look again): another one goes on. Guarded by
 * `control_seq`: a wish is never parked over. The job waits for whoever that is: no model call of it is under way.
 */
export function releaseUntil(mailbox: Mailbox, until: Millis | null): Append {
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
    job: mailbox.job === null ? null : { kind: 'progress', job: { ...mailbox.job, status: 'waiting' } },
    park: until === null ? { status: 'runnable' } : { status: 'waiting', until },
    progress: 'returned',
  };
}
