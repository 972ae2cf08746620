/** The stored state of a context as its run keeps it in memory: everything `decide` uses. */
import type { Compacted, Unread } from '../compaction/compacted.ts';
import type { ContextId, TenantId, WorkerId } from '../ids.ts';
import type { ActiveJob, QueuedJob, SteeredInput } from './job.ts';
import type { Message } from '../conversation/message.ts';
import type { Serving, Settings } from '../workers/settings.ts';
import type { Allow } from '../access/tenant.ts';
import type { UserOrNone } from '../access/user.ts';
import type { DurableState } from './state.ts';
import type { OpenCall } from '../tools/tool-call.ts';

/** The running job and the settings it runs with. */
export type ServedJob = { job: ActiveJob; settings: Settings };

/** The lease that allows writes for this snapshot. */
export type Lease = {
  contextId: ContextId;
  tenantId: TenantId;
  /** For logs and workspaces. */
  tenantName: string;
  /** The user of its worker. */
  user: UserOrNone;
  /** Its tenant has webhooks: appends write to their outbox. */
  notifies: boolean;
  /** Identifies the owner. */
  epoch: number;
};

/** The mailbox: data that other processes may have written since the last read. */
export type Mailbox = {
  lease: Lease;
  /** What its tenant may use, as of the read. */
  allow: Allow;
  /** Otherwise no queued job begins. */
  isTenantActive: boolean;
  workerId: WorkerId;
  /** The first context of its chain of forks, or itself. */
  rootContextId: ContextId;
  state: DurableState;
  /** Its worker was stopped: no queued job starts. */
  stopped: boolean;
  /** Counters of wake-ups and of control signals at the time of the read. */
  wakeSeq: number;
  controlSeq: number;
  /** Earlier consecutive claims without progress. */
  failedClaims: number;
  /** The branch of the running job, otherwise of the next job, otherwise the branch that inputs go to. */
  activeBranch: string;
  /** The job that was admitted and has not ended. */
  job: ActiveJob | null;
  /** The first job in the queue. */
  next: QueuedJob | null;
  /** The number of queued jobs, including the first. */
  queued: number;
  /** Inputs waiting to join the running job, in order. The content of the first is always read. */
  steers: SteeredInput[];
  /** Calls without a result, by ordinal. */
  calls: OpenCall[];
};

export type Snapshot = Mailbox & {
  /** Visible messages of the active branch in order; if there is a summary, from the last summarised message on. */
  history: Message[];
  compacted: Compacted;
  /** Null: `history` is complete. */
  unread: Unread | null;
  /** Tools get it. */
  workerName: string;
  /** The name of the worker's role; null: none. Tools get it. */
  role: string | null;
  serving: Serving;
};
