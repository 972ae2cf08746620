/** A worker that another one makes, and what calls wait for workers' jobs: as an append writes them. */
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from './ids.ts';
import type { WorkerConfig, WorkerRole } from './settings.ts';
import type { Millis } from './time.ts';
import type { OpenCall } from './tool-call.ts';
import type { ToolOutcome } from './tool.ts';

/** A whole worker, with its context and its first job, which answers `input`. Comes to be with the append, or not at all. */
export type Spawn = {
  /** Of its parent: makes one child at most. */
  callId: ToolCallId;
  workerId: WorkerId;
  contextId: ContextId;
  jobId: JobId;
  messageId: MessageId;
  name: string;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId;
  rootWorkerId: WorkerId;
  parentJobId: JobId;
  depth: number;
  detached: boolean;
  input: string;
  hops: number;
  priority: number;
  deadline: Millis | null;
  /** Whether the call waits for the job; else its end is to be reported. */
  awaited: boolean;
};

/** A job whose end a call waits for. */
export type AwaitedJob = { callId: ToolCallId; jobId: JobId; workerId: WorkerId; ordinal: number };

export type CallResult = Extract<ToolOutcome, { kind: 'result' }>;

/** What becomes of a call by which a worker asks something of others. */
export type Arrangement =
  | { kind: 'spawned'; call: OpenCall; spawn: Spawn }
  | { kind: 'awaits'; call: OpenCall; until: Millis | null; needs: number; jobs: AwaitedJob[] }
  | { kind: 'answered'; call: OpenCall; result: CallResult };
