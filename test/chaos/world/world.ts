// All that is known at the end of a run: the requests of clients with their answers, the stored rows, the answers of
// the API, the effects outside. The checks read nothing else.
import type { FinishedStatus, JobStatus } from '../../../src/core/run/job.ts';
import type { Outside } from '../../e2e/outside/outside-tools.ts';
import type { Script } from '../clients/inputs.ts';
import type { Operated } from './operated.ts';
import type { Repairs } from './repairs.ts';
import type { Schedules } from './schedules.ts';
import type { Service } from './service.ts';
import type { Webhooks } from './webhooks.ts';
import type {
  Config,
  StoredBranch,
  StoredCall,
  StoredCompaction,
  StoredContext,
  StoredEvent,
  StoredJob,
  StoredMessage,
} from './stored.ts';

/** One input of a client. Times are of this process's clock, in milliseconds. */
export type Posted = {
  /**
   * The sender: a client; or, as it is stored, a worker that made this one, or one below that ended; a schedule; or a
   * service, by its outbox.
   */
  origin: 'client' | 'spawn' | 'report' | 'schedule' | 'order';
  tag: string;
  /** Null: it is sent once, without a key. */
  key: string | null;
  /** Of a new worker: empty until it is accepted. */
  contextId: string;
  /** It is the input of a worker that is created with it. */
  isForNewWorker: boolean;
  delivery: 'queue' | 'reject' | 'steer' | 'interrupt';
  priority: number;
  /** Its branch; null: the active one. */
  branch: string | null;
  /** An earlier input that it edits or retries, on a branch of its own; null: an input like any other. */
  revision: { kind: 'edit' | 'regenerate'; messageId: string } | null;
  /** It starts so many seconds after it is accepted; null: at once. */
  delay: PostDelay | null;
  /** The webhook that it names. */
  webhook: string | null;
  script: Script;
  firstSentAt: number;
  outcome: Outcome;
  /** A client requested that its job be cancelled, alone or with others. */
  cancelled: boolean;
  /** The outcome of a change of the queued input; null: none was requested. */
  edited: 'taken' | 'refused' | null;
  withdrawn: 'taken' | 'refused' | null;
  reordered: boolean;
};

/** By the wall clock, in milliseconds. `sent`: first; `answered`: null until it is accepted. */
export type PostDelay = { seconds: number; sent: number; answered: number | null };

export type Outcome =
  | {
      kind: 'accepted';
      at: number;
      jobId: string;
      messageId: string | null;
      after: number;
      /** Of a retry: the branch that was made for it. */
      branch: string | null;
    }
  /** Finally refused: `reject`, where a job ran; any, where the worker was stopped. */
  | { kind: 'refused'; code: string; at: number }
  /** It was sent without a key, and no answer came: it was stored once, or not at all. */
  | { kind: 'unknown' }
  | { kind: 'pending' };

/** A job that had ended, as a client received it. */
export type Sighting = { jobId: string; status: JobStatus; outputId: string | null };

/** An interrupt that was requested. `jobId`, `removed`: from the answer, if it had them. */
export type Interrupt = {
  contextId: string;
  mode: 'discard' | 'rollback' | 'keep';
  jobId: string | null;
  removed: string[] | null;
};

/** By this process's clock, and by the wall clock, which Postgres has too. In milliseconds. */
export type Moment = { at: number; wall: number };

/**
 * A worker that was stopped and then started. The answer contains the state of the worker; null: there was none yet.
 */
export type Stop = {
  contextId: string;
  asked: Moment;
  stopped: (Moment & { reported: string }) | null;
  startRequested: Moment | null;
  started: (Moment & { reported: string }) | null;
};

/** An answer to a call, by the endpoint for that. `messageId`: its id in history, from the 202; null: refused. */
export type Reply = {
  contextId: string;
  callId: string;
  key: string;
  content: string;
  outcome: { kind: 'accepted'; jobId: string; messageId: string } | { kind: 'refused' } | { kind: 'pending' };
};

/** A decision on a call, by its client. `resolved`: the calls that a 200 named. */
export type PersonDecision = {
  contextId: string;
  callId: string;
  key: string;
  decision: 'approve' | 'deny';
  /** The replaced arguments; null: those of the model. */
  word: string | null;
  remember: boolean;
  outcome: { kind: 'taken'; resolved: string[] } | { kind: 'refused' } | { kind: 'pending' };
};

/** The accepted report of an outcome. */
export type OutcomeReport = {
  contextId: string;
  callId: string;
  outcome: 'happened' | 'did_not_happen' | 'tell';
};

/** An operation on branches and history. `branch` null: on the context as a whole. */
export type Change = {
  contextId: string;
  key: string;
  kind: 'create' | 'switch' | 'delete' | 'clear';
  branch: string | null;
  /** Of a new branch: it becomes the active one. */
  activates: boolean;
  outcome: 'taken' | 'refused' | 'pending';
};

/** Settings that a client wrote over those of version `seen`. `version`: from the answer; null: it was refused. */
export type Setting = {
  contextId: string;
  key: string;
  whole: boolean;
  config: Config;
  seen: number;
  version: number | null;
};

/** A compaction that a client requested. */
export type Compact = {
  contextId: string;
  key: string;
  jobId: string | null;
  outcome: 'taken' | 'refused' | 'pending';
};

/** An answer that no client should ever see. */
export type OddAnswer = { request: string; status: number; body: string };

export type ReturnedMessage = {
  id: string;
  seq: number | null;
  role: string;
  turn: string | null;
  content: unknown;
};

/** A branch as the API returns it: its length, its own part, and its messages. */
export type ReturnedBranch = {
  name: string;
  active: boolean;
  length: number;
  messageCount: number;
  requestCount: number;
  inputTokens: number;
  outputTokens: number;
  messages: ReturnedMessage[];
};

/** A context as the API returns it, once all is idle. */
export type ReturnedContext = {
  contextId: string;
  state: string;
  messageCount: number;
  turnCount: number;
  requestCount: number;
  inputTokens: number;
  outputTokens: number;
  branches: ReturnedBranch[];
  jobs: { id: string; status: JobStatus; steps: number; output: string | null; code: string | null }[];
};

/** One event of a stream. `seq` null: without a number. */
export type StreamEvent = { seq: number | null; name: string; data: Record<string, unknown> };

/** All events that one client of a context's stream received, over all its connections. */
export type Stream = {
  client: string;
  contextId: string;
  /** It has to see everything after this number; null: it began with the live end, and no event came. */
  from: number | null;
  connections: number;
  events: StreamEvent[];
  /** For each event: by which connection it came. */
  connection: number[];
  /** It had the time to catch up, and did not. */
  behind: boolean;
};

export type Replay = { contextId: string; events: StreamEvent[] };

/** Behaviour of processes that must not occur. */
export type Incident = { process: string; what: string; lines: string[] };

/** A fault that struck. In milliseconds; `wall`: its begin, by the wall clock. */
export type Struck = {
  kind: string;
  /** A process, or a service. No target is hit twice at once. */
  target: string;
  /** From the begin of the run. */
  at: number;
  wall: number;
  ms: number;
  /** Runs of worker processes may end by it. */
  endsRuns: boolean;
  /** Why it could not be hit; a busy container engine refuses to pause now and then. */
  missed: string | null;
};

export type World = {
  faults: Struck[];
  inputs: Posted[];
  sightings: Sighting[];
  interrupts: Interrupt[];
  stops: Stop[];
  replies: Reply[];
  decisions: PersonDecision[];
  reported: OutcomeReport[];
  changes: Change[];
  settings: Setting[];
  compacts: Compact[];
  odd: OddAnswer[];
  /** The work that was left at the timeout. */
  unsettled: string[];
  contexts: StoredContext[];
  branches: StoredBranch[];
  compactions: StoredCompaction[];
  jobs: StoredJob[];
  messages: StoredMessage[];
  events: StoredEvent[];
  calls: StoredCall[];
  outside: Outside[];
  returned: ReturnedContext[];
  /** Keys for which a repeated request got another answer. */
  repeats: { tag: string; first: string; again: string }[];
  streams: Stream[];
  replays: Replay[];
  incidents: Incident[];
  others: OtherTenants;
  schedules: Schedules;
  webhooks: Webhooks;
  keys: MadeKey[];
  service: Service;
  operated: Operated;
  repairs: Repairs;
};

/** A request with a key that the API made. Times are of this process's clock, in milliseconds. */
export type KeyUse = { sentAt: number; answeredAt: number; status: number };
/** `revoked`: when that was asked for first, and confirmed. */
export type MadeKey = { id: string; uses: KeyUse[]; revoked: { asked: number; answered: number } | null };

/** An accepted input of a tenant that is suspended and resumed, or deleted. */
export type TenantInput = { tenant: 'paused' | 'deleted'; tag: string; user: string | null; jobId: string };
export type TenantJob = { id: string; status: string; user: string | null; startedAt: number | null };

export type OtherTenants = {
  inputs: TenantInput[];
  /** Of the tenant that was suspended. */
  jobs: TenantJob[];
  /** From when to when it was; null: never. */
  suspended: { from: number; to: number } | null;
  /** The names of those that were there and were deleted. */
  deleted: string[];
  /** Tables with rows of a deleted tenant. */
  left: string[];
};

export type Violation = {
  check: string;
  what: string;
  contextId: string | null;
  /** The jobs, messages, calls or keys concerned. */
  ids: string[];
};

export type Check = { name: string; find(world: World): Violation[] };

export function isEnded(status: JobStatus): status is FinishedStatus {
  return status !== 'delayed' && status !== 'queued' && status !== 'running' && status !== 'waiting';
}

export function groupBy<T>(list: readonly T[], keyOf: (one: T) => string | null): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const key = keyOf(one);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}
