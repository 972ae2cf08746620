/**
 * The one durable write of a run: everything that one step adds, in one guarded statement. The store numbers `entries`
 * in their order and refuses the whole when the epoch moved, or when a guarded counter is no longer what was seen.
 */
import type { NewCompaction } from './compaction/compacted.ts';
import type { ContextEvent } from './event.ts';
import type { JobError } from './errors.ts';
import type { JobId, MessageId } from './ids.ts';
import type { ActiveJob, JobOutcome } from './job.ts';
import type { NewMessage } from './message.ts';
import type { ModelCall } from './model-call.ts';
import type { Lease } from './snapshot.ts';
import type { AwaitedJob, Spawn } from './spawn.ts';
import type { DurableState } from './state.ts';
import type { ExecutionEnd } from './execution.ts';
import type { Millis } from './time.ts';
import type { ApprovalDecision, ClosedCallStatus, ToolCall, Wait } from './tool-call.ts';
import type { ContextId, ToolCallId } from './ids.ts';
import type { Turn } from './turn.ts';

export type Entry =
  | { kind: 'message'; message: NewMessage }
  /** A queued or a steered input enters history. */
  | { kind: 'admit'; messageId: MessageId; turn: Turn }
  | { kind: 'event'; event: ContextEvent };

export type JobChange =
  /** A queued job becomes the running one. */
  | { kind: 'admit'; job: ActiveJob }
  | { kind: 'progress'; job: ActiveJob }
  | { kind: 'settle'; job: ActiveJob; outcome: JobOutcome };

export type CallChange =
  /** `wait`: it waits from the beginning; null: it is to be run. */
  | { kind: 'request'; call: ToolCall; wait: Wait | null }
  /** It is not run, or not run again, before something came. */
  | { kind: 'wait'; id: ToolCallId; wait: Wait }
  /** It waited for that, and is to be run. */
  | { kind: 'approve'; id: ToolCallId; approval: ApprovalDecision }
  | { kind: 'start'; id: ToolCallId }
  /** Begun, and known not to have happened: it is to be run anew. */
  | { kind: 'reopen'; id: ToolCallId }
  /** `execution`: what the ledger is told; null: it was not run, or the ledger knows. */
  | { kind: 'close'; id: ToolCallId; status: ClosedCallStatus; execution: ExecutionEnd | null };

/**
 * How a run gives its context back. `idle`: nothing left to do. `waiting`: until a moment. `runnable`: somebody else
 * goes on at once.
 */
export type Park = { status: 'idle' } | { status: 'waiting'; until: Millis } | { status: 'runnable' };

/** What an interrupt takes back. */
export type TakenBack = {
  /** Messages that leave history. */
  retracted: MessageId[];
  /** Inputs that never entered it. */
  withdrawn: MessageId[];
  /** The number of the last turn that is still there. */
  lastTurn: number;
};

export type Append = {
  lease: Lease;
  /** To which messages are added, and on which the job is. */
  branch: string;
  /** Counters that must still be as they were read; null: not guarded. */
  guard: { controlSeq: number | null; wakeSeq: number | null };
  entries: Entry[];
  calls: CallChange[];
  /** Workers that come to be with it. */
  spawns: Spawn[];
  /** What calls that begin to wait for workers wait for. */
  awaits: AwaitedJob[];
  /** Calls that waited for workers, and are closed with it. */
  released: ToolCallId[];
  takenBack: TakenBack | null;
  job: JobChange | null;
  /** Stored with the entry that tells of it. */
  compaction: NewCompaction | null;
  /** The model call that brought this about. */
  modelCall: ModelCall | null;
  state: DurableState;
  /** Null: the lease is kept. */
  park: Park | null;
  /** The worker's last failure: left, cleared, or set. */
  failure: 'keep' | 'clear' | (JobError & { jobId: JobId });
  /**
   * Whether the job was brought forward: claims in a row after which it was not are counted. `none`: what a claim itself
   * writes. `returned`: the claim is given back unused, and does not count.
   */
  progress: 'made' | 'none' | 'returned';
};

export type AppendOutcome =
  | {
      kind: 'committed';
      firstSeq: number;
      headSeq: number;
      wakeSeq: number;
      controlSeq: number;
      /** It ended a job, and others are to hear of that: the jobs below it, or the worker that asked for it. */
      followUp: boolean;
      /** Contexts with a call that waited for the job that ended with it, and waits for nothing more. */
      met: ContextId[];
    }
  /** A guard failed: read again, decide again. */
  | { kind: 'stale' };
