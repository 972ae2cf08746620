/** What is stored of a context, as its holder keeps it in memory: all that `decide` looks at. */
import type { Compacted, Unread } from './compaction/compacted.ts';
import type { ContextId, TenantId, WorkerId } from './ids.ts';
import type { ActiveJob, QueuedJob, SteeredInput } from './job.ts';
import type { Message } from './message.ts';
import type { Serving } from './settings.ts';
import type { DurableState } from './state.ts';
import type { OpenCall } from './tool-call.ts';

/** The lease under which this snapshot may be written to: who writes is known by `epoch`. */
export type Lease = { contextId: ContextId; tenantId: TenantId; epoch: number };

/** The mailbox: what others may have written since one last looked. */
export type Mailbox = {
  lease: Lease;
  workerId: WorkerId;
  /** The first of the contexts that this one was forked from, or itself. */
  rootContextId: ContextId;
  state: DurableState;
  /** Its worker was told to stop: nothing queued is begun. */
  stopped: boolean;
  /** How often it was rung, and told to look up, when this was read. */
  wakeSeq: number;
  controlSeq: number;
  /** Claims before this one that brought nothing forward. */
  failedClaims: number;
  /** What is worked on: the branch of the job, else of the next one, else the one that inputs go to. */
  activeBranch: string;
  /** The job that was admitted and has not ended. */
  job: ActiveJob | null;
  /** The first of the queue. */
  next: QueuedJob | null;
  /** How many are queued, the first included. */
  queued: number;
  /** Inputs that wait to join the job, in order. The content of the first one is always read. */
  steers: SteeredInput[];
  /** Calls without a result, by ordinal. */
  calls: OpenCall[];
};

export type Snapshot = Mailbox & {
  /** Visible messages of that branch in order; from the last one on that a summary stands for, where there is one. */
  history: Message[];
  compacted: Compacted;
  /** Null: `history` is complete. */
  unread: Unread | null;
  serving: Serving;
};
