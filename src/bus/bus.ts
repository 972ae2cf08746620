/**
 * The bus: publish and subscribe, at most once, to those who are subscribed at the time. All durable state is in
 * PostgreSQL, where a subscriber that missed a message reads it.
 */
import type { ContextId, JobId, ProcessId, TenantId } from '../core/ids.ts';
import type { ThrottleNews } from '../core/run/throttle.ts';
import type { ChangedResource } from '../core/stream/change.ts';
import type { ProgressFrame } from '../core/stream/call-progress.ts';
import type { DeltaFrame } from '../core/stream/partial-message.ts';
import type { NumberedEvent } from '../core/stream/stream-event.ts';

/** To the process that owns a context: its run must read the mailbox again. */
export type ControlSignal = {
  contextId: ContextId;
  /** A run that has read its mailbox at this version already ignores the signal. */
  controlSeq: number;
};

/** To all that follow a context: it has new entries. */
export type Progress = {
  contextId: ContextId;
  /** 0: the context was deleted. */
  headSeq: number;
  /** The last entries up to `headSeq`, if the sender has them. A feed that they continue need not read PostgreSQL. */
  entries?: readonly NumberedEvent[];
  /** The process that writes the context now, and its epoch. */
  holder?: { owner: ProcessId; epoch: number };
};

/**
 * To all API processes with streams or long polls: a job `ended`, or it waits for something. `headSeq`: of its context.
 */
export type JobNews = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  headSeq: number;
  status: 'ended' | 'waiting';
};

/**
 * To a worker process: these contexts have subscribers for the next `forMs` milliseconds. `asking`: the current state
 * of these is requested.
 */
export type Interest = {
  listening: readonly ContextId[];
  asking: readonly ContextId[];
  forMs: number;
};

/**
 * To API processes with clients that follow a tenant: something that lists show may have changed. Of contexts, only their
 * ids: whose they are never changes, and an API process looks it up. Otherwise what a client wrote to.
 */
export type Change =
  | { kind: 'contexts'; contextIds: readonly ContextId[] }
  | { kind: 'resource'; tenantId: TenantId; resource: ChangedResource };

/** To all processes: for the next `forMs` milliseconds clients follow tenants. */
export type ChangesWanted = { forMs: number };

type Channel<_Message> = { readonly name: string };

export function controlSignalsTo(process: ProcessId): Channel<ControlSignal> {
  return { name: `process:${process}` };
}

export function interestTo(process: ProcessId): Channel<Interest> {
  return { name: `interest:${process}` };
}

/** Both channels of a context share a slot of a cluster, so that what is published on them keeps its order. */
export function progressOf(context: ContextId): Channel<Progress> {
  return { name: `context:{${context}}` };
}

export function jobNews(): Channel<JobNews> {
  return { name: 'job-news' };
}

/** What is not stored as it is published: only while the context has subscribers. */
export type LiveFrame = DeltaFrame | ProgressFrame;

/** Model output as it arrives, and the progress of calls. */
export function deltasOf(context: ContextId): Channel<LiveFrame> {
  return { name: `deltas:{${context}}` };
}

/** To all worker processes: models that are throttled, or no longer. */
export function throttleNews(): Channel<ThrottleNews> {
  return { name: 'throttles' };
}

/** To all worker processes: a job ended, and follow-ups are due. If the message is lost, a sweep finds them. */
export function followUpsDue(): Channel<Record<string, never>> {
  return { name: 'follow-ups' };
}

/** To all worker processes: submissions are committed. If the message is lost, a look finds them. */
export function submissionsDue(): Channel<Record<string, never>> {
  return { name: 'submissions' };
}

export function changes(): Channel<Change> {
  return { name: 'changes' };
}

export function changesWanted(): Channel<ChangesWanted> {
  return { name: 'changes-wanted' };
}

export type Bus = Channels & { changed: ChangePublisher };

/** Tells those that follow a tenant, if anyone does. */
export type ChangePublisher = {
  /** Something about a context was committed. */
  context(contextId: ContextId): void;
  /** A client of the tenant wrote to a resource. */
  resource(tenantId: TenantId, resource: ChangedResource): void;
};

export type Channels = {
  /** Never throws, and never waits for an unavailable bus. */
  publish<Message extends object>(channel: Channel<Message>, message: Message): void;
  /**
   * Resolves once messages published from now on will arrive, as far as a bus that may lose messages can tell. Returns
   * a function that unsubscribes. `handle` must not throw.
   */
  subscribe<Message extends object>(channel: Channel<Message>, handle: (message: Message) => void): Promise<() => void>;
  /** Calls `handle` when messages may have been lost, once new ones arrive again. Returns a function that ends this. */
  onLost(handle: () => void): () => void;
  close(): Promise<void>;
};
