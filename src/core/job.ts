/**
 * A job: one background run of a worker's agent loop that answers one input.
 *
 *   queued ──admit──→ running ⇄ waiting ──settle──→ completed | incomplete | failed | cancelled | interrupted
 *      └──────────────────withdrawn, cancelled───────────────────────────────────↗
 */
import type { Block } from './blocks.ts';
import type { AskedCompaction } from './compaction/settings.ts';
import type { JobError } from './errors.ts';
import type { Throttled } from './throttle.ts';
import type { JobId, MessageId } from './ids.ts';
import type { Millis } from './time.ts';
import type { Usage } from './usage.ts';

export const JOB_KINDS = ['input', 'retry', 'compact'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const UNFINISHED_STATUSES = ['queued', 'running', 'waiting'] as const;
export const FINISHED_STATUSES = ['completed', 'incomplete', 'failed', 'cancelled', 'interrupted'] as const;
export const JOB_STATUSES = [...UNFINISHED_STATUSES, ...FINISHED_STATUSES] as const;
export type FinishedStatus = (typeof FINISHED_STATUSES)[number];
export type JobStatus = (typeof JOB_STATUSES)[number];

export function isFinished(status: JobStatus): status is FinishedStatus {
  return (FINISHED_STATUSES as readonly string[]).includes(status);
}

/**
 * What becomes of what an interrupted job added. `discard`: the assistant's side is taken back, the inputs stay.
 * `rollback`: the inputs too. `keep`: what was finished stays, sealed.
 */
export const INTERRUPT_MODES = ['discard', 'rollback', 'keep'] as const;
export type InterruptMode = (typeof INTERRUPT_MODES)[number];

/** What somebody wants of a job: `cancel` it, `stop` its worker, or `interrupt` it. */
export type StopKindAndMode =
  | { kind: 'cancel' }
  | { kind: 'stop' }
  | { kind: 'interrupt'; mode: InterruptMode };
export type StopKind = StopKindAndMode['kind'];

/** A demand, durable before anybody is told. */
export type StopRequest = StopKindAndMode & {
  reason: string | null;
  requestedAt: Millis;
  /** When the holder learned of it; null: not yet, or there was no holder to tell. */
  deliveredAt: Millis | null;
};

/** A job that was admitted and has not ended. A context has one at most. */
export type ActiveJob = {
  id: JobId;
  kind: JobKind;
  status: 'running' | 'waiting';
  branch: string;
  /** The number of the turn it answers: its messages are of turn `a<turn>`. */
  turn: number;
  /** Counts model calls that had to be begun again, from 1; never falls. A higher one voids the text of the lower. */
  attempt: number;
  /** Failed model calls in a row; 0 after an answer. */
  failures: number;
  /** Not before this; null: now. */
  retryAt: Millis | null;
  /** Why the last model call failed, or what holds back the next one; null after an answer. */
  lastFailure: CallFailure | Throttled | null;
  /** Model calls that were answered. */
  steps: number;
  maxSteps: number | null;
  deadline: Millis | null;
  usage: Usage;
  stopRequest: StopRequest | null;
  /** Of a compaction that somebody asked for: how. */
  asked: AskedCompaction | null;
};

/** `compacted`: the prompt that was too long was compacted since. */
export type CallFailure = JobError & { compacted?: true };

/** Whether the provider found the prompt of the last call too long, and nothing was done about it yet. */
export function isRefused(job: ActiveJob): job is ActiveJob & { lastFailure: CallFailure } {
  const { lastFailure } = job;
  return (
    lastFailure !== null &&
    'code' in lastFailure &&
    lastFailure.code === 'prompt_too_long' &&
    lastFailure.compacted !== true
  );
}

/** The next job in a context's queue. A `retry` runs on what stands and brings no message, a `compact` says nothing at all. */
export type QueuedJob =
  | (QueuedBase & { kind: 'input'; messageId: MessageId; content: Block[] })
  | (QueuedBase & { kind: 'retry' })
  | (QueuedBase & { kind: 'compact'; asked: AskedCompaction });

type QueuedBase = {
  id: JobId;
  branch: string;
  maxSteps: number | null;
  deadline: Millis | null;
  /** It was interrupted before it began: it begins, and ends at once. */
  stopRequest: StopRequest | null;
};

/** An input that waits to join the running job. `content`: null where those before it hold as much as is read at once. */
export type SteeredInput = { messageId: MessageId; content: Block[] | null };

/** How a job ends. */
export type JobOutcome =
  | { status: 'completed'; outputId: MessageId | null }
  | { status: 'incomplete'; error: JobError }
  | { status: 'failed'; error: JobError }
  | { status: 'cancelled'; reason: string | null }
  | { status: 'interrupted'; mode: InterruptMode };

/** How a job ends whose end was wished for. */
export function requestedEnd(stopRequest: StopRequest): JobOutcome {
  switch (stopRequest.kind) {
    case 'cancel':
    case 'stop':
      return { status: 'cancelled', reason: stopRequest.reason };
    case 'interrupt':
      return { status: 'interrupted', mode: stopRequest.mode };
  }
}
