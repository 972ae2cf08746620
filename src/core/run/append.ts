/**
 * The single durable write of a run: everything one decision adds, in one guarded statement. The store numbers
 * `entries` in order. It refuses the whole append when the lease epoch has changed or a guarded counter differs from
 * the value that was read.
 */
import type { NewCompaction } from '../compaction/compacted.ts';
import type { ContextEvent } from '../stream/event.ts';
import type { JobError } from '../errors.ts';
import type { ContextId, JobId, MessageId, ToolCallId } from '../ids.ts';
import type { ActiveJob, JobEnd } from './job.ts';
import type { NewMessage } from '../conversation/message.ts';
import type { Retraction } from '../conversation/retraction.ts';
import type { ModelCall } from '../model/model-call.ts';
import type { Lease } from './snapshot.ts';
import type { AwaitedJob, Spawn } from '../workers/spawn.ts';
import type { DurableState } from './state.ts';
import type { ExecutionEnd } from './execution.ts';
import type { Millis } from '../time.ts';
import type { ApprovalDecision, ClosedCallStatus, ToolCall, Wait } from '../tools/tool-call.ts';
import type { Turn } from '../conversation/turn.ts';

/** An answer that its model call did not finish, and why its job ended. */
export type PartialAnswer = { id: MessageId; turn: Turn; text: string; jobId: JobId; retraction: Retraction };

export type Entry =
  | { kind: 'message'; message: NewMessage }
  /** The text of an unfinished answer: stored, but not part of the history. */
  | ({ kind: 'partial' } & PartialAnswer)
  /** A queued or steered input enters history. */
  | { kind: 'admit'; messageId: MessageId; turn: Turn }
  | { kind: 'event'; event: ContextEvent };

export type JobChange =
  /** A queued job becomes the running job. */
  { kind: 'admit'; job: ActiveJob } | { kind: 'progress'; job: ActiveJob } | ({ kind: 'settle' } & JobEnd);

export type CallChange =
  /** `wait`: the call waits from the start; null: the call can run. */
  | { kind: 'request'; call: ToolCall; wait: Wait | null }
  /** The call does not run, or does not run again, until the wait ends. */
  | { kind: 'wait'; id: ToolCallId; wait: Wait }
  /** The call was waiting for approval and can now run. */
  | { kind: 'approve'; id: ToolCallId; approval: ApprovalDecision }
  | { kind: 'start'; id: ToolCallId }
  /** The call was started but is known to have had no effect: it runs again. */
  | { kind: 'reopen'; id: ToolCallId }
  /**
   * `execution`: the entry for the execution ledger; null: the call did not run, or the ledger already has its
   * outcome. `code`: why it failed, which is counted and not stored with the call.
   */
  | { kind: 'close'; id: ToolCallId; status: ClosedCallStatus; execution: ExecutionEnd | null; code?: string };

/**
 * How a run releases its context. `idle`: nothing left to do. `waiting`: until the given time. `runnable`: another
 * run continues at once.
 */
export type Park = { status: 'idle' } | { status: 'waiting'; until: Millis } | { status: 'runnable' };

/** What an interrupt removes. */
export type TakenBack = {
  /** Messages removed from history. */
  retracted: MessageId[];
  /** Inputs that never entered history. */
  withdrawn: MessageId[];
  /** The number of the last turn that remains. */
  lastTurn: number;
  /** Null: not known. */
  retraction: Retraction | null;
};

export type Append = {
  lease: Lease;
  /** The branch that messages are added to and that the job runs on. */
  branch: string;
  /** Counters that must still have the values that were read; null: not guarded. */
  guard: { controlSeq: number | null; wakeSeq: number | null };
  entries: Entry[];
  calls: CallChange[];
  /** Workers created by this append. */
  spawns: Spawn[];
  /** The jobs that newly waiting calls wait for. */
  awaits: AwaitedJob[];
  /** Calls that waited for workers and are closed by this append. */
  released: ToolCallId[];
  takenBack: TakenBack | null;
  job: JobChange | null;
  /** Stored with the event that reports it. */
  compaction: NewCompaction | null;
  /** The model call that produced this append. */
  modelCall: ModelCall | null;
  state: DurableState;
  /** Null: the lease is kept. */
  park: Park | null;
  /** The worker's last failure: kept, cleared or set. */
  failure: 'keep' | 'clear' | (JobError & { jobId: JobId });
  /**
   * Whether the job made progress. Consecutive claims without progress are counted. `none`: the write that a claim
   * itself makes. `returned`: the claim is released unused and does not count.
   */
  progress: 'made' | 'none' | 'returned';
};

/** What a writer that has locked the context knows before it commits. */
export type Expected = {
  kind: 'committed';
  firstSeq: number;
  headSeq: number;
  wakeSeq: number;
  controlSeq: number;
  /** This append ended a job and a follow-up is due: for its child jobs, or for the worker that requested it. */
  followUp: boolean;
  /** Contexts with a call that was waiting for the job that ended here and now waits for nothing else. */
  met: ContextId[];
};

/** `at`: the time of its entries, by the database's clock. */
export type Committed = Expected & { at: Millis };

/** `stale`: a guard failed: read and decide again. */
export type AppendOutcome = Committed | { kind: 'stale' };
