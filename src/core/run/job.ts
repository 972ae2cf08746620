/**
 * A job: one background run of a worker's agent loop that answers one input.
 *
 *   delayed ──due──→ queued ──admit──→ running ⇄ waiting ──settle──→ completed | incomplete | failed | cancelled | …
 *      └───────────────────┴───────────withdrawn, cancelled──────────────────────────────────────────────↗
 */
import type { TraceParent } from '../tracing/trace-parent.ts';
import type { Block } from '../conversation/blocks.ts';
import type { Actor } from '../access/actor.ts';
import type { AskedCompaction } from '../compaction/settings.ts';
import type { JobError } from '../errors.ts';
import type { OutputSchema } from './output.ts';
import type { Throttle, Throttled, ThrottledWait } from './throttle.ts';
import type { JobId, MessageId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Millis } from '../time.ts';
import type { Usage } from '../money/usage.ts';
import type { User } from '../access/user.ts';

export const JOB_KINDS = ['input', 'retry', 'compact'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `delayed`: it is not in the queue of its context yet, and nothing waits behind it. */
export const UNFINISHED_STATUSES = ['delayed', 'queued', 'running', 'waiting'] as const;
const FINISHED_STATUSES = ['completed', 'incomplete', 'failed', 'cancelled', 'interrupted'] as const;
export const JOB_STATUSES = [...UNFINISHED_STATUSES, ...FINISHED_STATUSES] as const;
export type FinishedStatus = (typeof FINISHED_STATUSES)[number];
export type JobStatus = (typeof JOB_STATUSES)[number];

export function isFinished(status: JobStatus): status is FinishedStatus {
  return (FINISHED_STATUSES as readonly string[]).includes(status);
}

/**
 * What happens to the messages of an interrupted job. `discard`: the assistant's messages are retracted, the inputs
 * stay. `rollback`: the inputs are retracted too. `keep`: finished messages stay, sealed.
 */
export const INTERRUPT_MODES = ['discard', 'rollback', 'keep'] as const;
export type InterruptMode = (typeof INTERRUPT_MODES)[number];

/** What is requested of a job: `cancel` it, `stop` its worker, or `interrupt` it. */
export type RequestedStop = { kind: 'cancel' } | { kind: 'stop' } | { kind: 'interrupt'; mode: InterruptMode };
export type StopKind = RequestedStop['kind'];

/** A stop request. It is stored before any process is notified. */
export type StopRequest = RequestedStop & {
  reason: string | null;
  requestedAt: Millis;
  /** When the run learned of it; null: not yet, or there was no run. */
  deliveredAt: Millis | null;
  /** Who requested it; null: not known. */
  by: Actor | null;
};

/** A job that was admitted and has not ended. A context has at most one. */
export type ActiveJob = {
  id: JobId;
  kind: JobKind;
  status: 'running' | 'waiting';
  branch: string;
  /** The number of the turn it answers: its messages have turn `a<turn>`. */
  turn: number;
  /** Counts attempts of model calls, from 1; never decreases. A higher attempt invalidates the text of lower ones. */
  attempt: number;
  /** Consecutive failed model calls; 0 after an answer. */
  failures: number;
  /** Earliest time of the next call; null: now. */
  retryAt: Millis | null;
  /** Why the last model call failed, or what throttles the next one; null after an answer. */
  lastFailure: CallFailure | Throttled | null;
  /** Answered model calls. */
  steps: number;
  maxSteps: number | null;
  /** What its answer must match; null: what the settings say. */
  outputSchema: OutputSchema | null;
  /** How often the model was asked again because its answer did not match. */
  corrections: number;
  deadline: Millis | null;
  usage: Usage;
  stopRequest: StopRequest | null;
  /** The options of a requested compaction; null for other jobs. */
  asked: AskedCompaction | null;
  /** What the client gave with the input. Tools get it. */
  metadata: JsonObject;
  /** On whose behalf it runs: an end user of the tenant. Tools get it. */
  user: User | null;
  /** Its place in the trace of its caller; null: the caller gave none. */
  traceParent: TraceParent | null;
};

/** `compacted`: the prompt that was too long has been compacted since. */
export type CallFailure = JobError & { compacted?: true };

type FailedJob = ActiveJob & { lastFailure: CallFailure };

/** Whether the provider refused the last prompt as too long, also if it has been compacted since. */
export function wasRefused(job: ActiveJob): job is FailedJob {
  const { lastFailure } = job;
  return lastFailure !== null && 'code' in lastFailure && lastFailure.code === 'prompt_too_long';
}

/** Whether the provider refused the last prompt as too long and it has not been compacted yet. */
export function isRefused(job: ActiveJob): job is FailedJob {
  return wasRefused(job) && job.lastFailure.compacted !== true;
}

/** The wait for a throttle before the next model call; null: it did not wait. */
export function throttledWait({ lastFailure }: Pick<ActiveJob, 'lastFailure'>): ThrottledWait | null {
  if (lastFailure === null || !('throttled' in lastFailure)) return null;
  const { since, reason } = lastFailure.throttled;
  return { since, reason };
}

/** The job, whose next model call waits for a throttle from `now` on, unless it waits already. */
export function throttledBy(job: ActiveJob, throttle: Throttle, now: Millis): ActiveJob {
  const since = throttledWait(job)?.since ?? now;
  return { ...job, lastFailure: { throttled: { ...throttle, since } } };
}

/** The job, whose model call may have begun and gave no answer: the next call is a new attempt, and waited for nothing yet. */
export function unanswered(job: ActiveJob): ActiveJob {
  const { attempt, lastFailure } = job;
  return { ...job, attempt: attempt + 1, lastFailure: throttledWait(job) === null ? lastFailure : null };
}

/** The job after one more failed model call. `retryAt`: the earliest time of the next one; null: now. */
export function failedAgain(job: ActiveJob, lastFailure: JobError, retryAt: Millis | null): ActiveJob {
  const { attempt, failures } = job;
  return { ...job, status: 'running', attempt: attempt + 1, failures: failures + 1, retryAt, lastFailure };
}

/**
 * The next job in a context's queue. A `retry` runs on the existing history and adds no message; a `compact` adds no
 * message and gets no answer.
 */
export type QueuedJob =
  | (QueuedBase & { kind: 'input'; messageId: MessageId; content: Block[] })
  | (QueuedBase & { kind: 'retry' })
  | (QueuedBase & { kind: 'compact'; asked: AskedCompaction });

type QueuedBase = {
  id: JobId;
  branch: string;
  maxSteps: number | null;
  outputSchema: OutputSchema | null;
  deadline: Millis | null;
  /** Set if it was interrupted before it started: it is admitted and ends at once. */
  stopRequest: StopRequest | null;
  metadata: JsonObject;
  user: User | null;
  traceParent: TraceParent | null;
};

/** An input waiting to enter the running job. `content`: null if the inputs before it already fill the read limit. */
export type SteeredInput = { messageId: MessageId; content: Block[] | null };

/** How a job ends. */
export type JobOutcome =
  | { status: 'completed'; outputId: MessageId | null }
  /** The answer is JSON that matches the schema of the job. */
  | { status: 'completed'; outputId: MessageId; hasData: true }
  | { status: 'incomplete'; error: JobError }
  | { status: 'failed'; error: JobError }
  /** The answer does not match the schema of the job. */
  | { status: 'failed'; error: JobError & { code: 'output_invalid' }; outputId: MessageId }
  | { status: 'cancelled'; reason: string | null }
  | { status: 'interrupted'; mode: InterruptMode };

export type JobEnd = { job: ActiveJob; outcome: JobOutcome };

export function requestedEnd(stopRequest: StopRequest): JobOutcome {
  switch (stopRequest.kind) {
    case 'cancel':
    case 'stop':
      return { status: 'cancelled', reason: stopRequest.reason };
    case 'interrupt':
      return { status: 'interrupted', mode: stopRequest.mode };
  }
}
