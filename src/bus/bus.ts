/**
 * The whisper: publish and subscribe, at most once, for those who happen to listen. What matters is in Postgres; who
 * hears nothing asks there.
 */
import type { ContextId, JobId, ProcessId } from '../core/ids.ts';
import type { HoldReason } from '../core/gate.ts';
import type { JobStatus } from '../core/job.ts';
import type { Millis } from '../core/time.ts';

/** To a process that owns a context: look up, somebody wants something of it. */
export type Summons = {
  contextId: ContextId;
  /** As of when: a holder that has read its mailbox since then has seen it. */
  controlSeq: number;
};

/** To whoever follows a context: its numbers went on; `finished` names a job that ended with it. */
export type Progress = {
  contextId: ContextId;
  headSeq: number;
  finished: { jobId: JobId; status: JobStatus } | null;
};

/** To all worker processes: a provider key is held back. */
export type GateClosed = { id: string; reason: HoldReason; until: Millis };

export type Channel<_Message> = { readonly name: string };

export function summonsTo(process: ProcessId): Channel<Summons> {
  return { name: `process:${process}` };
}

export function progressOf(context: ContextId): Channel<Progress> {
  return { name: `context:${context}` };
}

export function gatesClosed(): Channel<GateClosed> {
  return { name: 'gates' };
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
    hear: (message: Message) => void,
  ): Promise<() => void>;
  close(): Promise<void>;
};
