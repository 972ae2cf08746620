/** Child workers and waits for workers' jobs, in the form that an append writes. */
import type { TraceParent } from '../tracing/trace-parent.ts';
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from '../ids.ts';
import type { WorkerConfig, WorkerRole } from './settings.ts';
import type { Millis } from '../time.ts';
import type { User } from '../access/user.ts';
import type { OpenCall } from '../tools/tool-call.ts';
import type { ToolOutcome } from '../tools/tool.ts';

/** A new worker with its context and its first job, which answers `input`. Created atomically with the append. */
export type Spawn = {
  /** The parent's call; it creates at most one child. */
  callId: ToolCallId;
  workerId: WorkerId;
  contextId: ContextId;
  jobId: JobId;
  messageId: MessageId;
  name: string;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId;
  /** The user of the parent. */
  user: User | null;
  rootWorkerId: WorkerId;
  parentJobId: JobId;
  depth: number;
  detached: boolean;
  input: string;
  /** On whose behalf the job of the parent runs. */
  jobUser: User | null;
  hops: number;
  priority: number;
  deadline: Millis | null;
  /** The run of the parent, in a trace; null: nothing is traced. */
  traceParent: TraceParent | null;
  /** Whether the call waits for the job. If not, the parent gets a notice when the job ends. */
  awaited: boolean;
};

export type AwaitedJob = { callId: ToolCallId; jobId: JobId; workerId: WorkerId; ordinal: number };

export type CallResult = Extract<ToolOutcome, { kind: 'result' }>;

/** The result of a call that concerns other workers. */
export type Arrangement =
  | { kind: 'spawned'; call: OpenCall; spawn: Spawn }
  | { kind: 'awaits'; call: OpenCall; until: Millis | null; needs: number; jobs: AwaitedJob[] }
  | { kind: 'answered'; call: OpenCall; result: CallResult };
