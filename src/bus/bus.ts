/**
 * The whisper: publish and subscribe, at most once, for those who happen to listen. What matters is in Postgres; who
 * hears nothing asks there.
 */
import type { ContextId, JobId, ProcessId } from '../core/ids.ts';
import type { ThrottleReason } from '../core/throttle.ts';
import type { JobStatus } from '../core/job.ts';
import type { DeltaFrame } from '../core/partial-message.ts';
import type { Millis } from '../core/time.ts';
import type { NumberedEvent } from '../core/stream-event.ts';

/** To a process that owns a context: look up, somebody wants something of it. */
export type ControlSignal = {
  contextId: ContextId;
  /** As of when: a holder that has read its mailbox since then has seen it. */
  controlSeq: number;
};

/** To whoever follows a context: its numbers went on; `finished` names a job that ended with it. */
export type Progress = {
  contextId: ContextId;
  /** 0: the context is gone. */
  headSeq: number;
  finished: { jobId: JobId; status: JobStatus } | null;
  /** The last entries up to `headSeq`, from whoever has them at hand: where they go on from what is known, nobody reads. */
  entries?: readonly NumberedEvent[];
  /** Who writes the context now. */
  holder?: { owner: ProcessId; epoch: number };
};

/** To a worker process: these contexts are listened to, for so long; of some it is asked how they stand. */
export type Interest = {
  listening: readonly ContextId[];
  asking: readonly ContextId[];
  forMs: number;
};

/** To all worker processes: a provider key is held back. */
export type ThrottleSet = { id: string; reason: ThrottleReason; until: Millis };

export type Channel<_Message> = { readonly name: string };

export function controlSignalsTo(process: ProcessId): Channel<ControlSignal> {
  return { name: `process:${process}` };
}

export function interestTo(process: ProcessId): Channel<Interest> {
  return { name: `audience:${process}` };
}

/** Both channels of a context share a slot of a cluster, so that what is published on them keeps its order. */
export function progressOf(context: ContextId): Channel<Progress> {
  return { name: `context:{${context}}` };
}

/** What a model says, as it says it: only while somebody listens. */
export function deltasOf(context: ContextId): Channel<DeltaFrame> {
  return { name: `deltas:{${context}}` };
}

export function throttlesSet(): Channel<ThrottleSet> {
  return { name: 'throttles' };
}

/** To all worker processes: a job ended, and something is to be passed on. Where nobody hears it, a sweep finds it. */
export function followUpsDue(): Channel<Record<string, never>> {
  return { name: 'follow-ups' };
}

export type Bus = {
  /** Never throws, never waits for a bus that is away. */
  publish<Message extends object>(channel: Channel<Message>, message: Message): void;
  /**
   * Resolves once what is published from now on arrives, as far as a bus that may lose messages can say; returns what
   * ends it. `hear` must not throw.
   */
  subscribe<Message extends object>(
    channel: Channel<Message>,
    handle: (message: Message) => void,
  ): Promise<() => void>;
  /** `hear` is told whenever something may have been missed, once it will be heard again. Returns what ends it. */
  onLost(handle: () => void): () => void;
  close(): Promise<void>;
};
