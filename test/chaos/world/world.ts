// All that is known at the end of a run: what clients did and were told, what is stored, what the API says of it, what
// happened outside. The checks look at nothing else.
import type { FinishedStatus, JobStatus } from '../../../src/core/run/job.ts';
import type { Outside } from '../../e2e/outside/outside-tools.ts';
import type { Script } from '../clients/inputs.ts';
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

/** What one client posted. Times are of this process's clock, in milliseconds. */
export type Posted = {
  /** Who asked: a client; or, as it is stored, a worker that made this one, or one below that ended. */
  origin: 'client' | 'spawn' | 'report';
  tag: string;
  key: string;
  contextId: string;
  delivery: 'queue' | 'reject' | 'steer' | 'interrupt';
  priority: number;
  /** On which branch; null: on the active one. */
  branch: string | null;
  /** An input of before that it edits, or has answered once more, on a branch of its own; null: an input like any other. */
  anew: { kind: 'edit' | 'regenerate'; messageId: string } | null;
  script: Script;
  firstSentAt: number;
  outcome: Outcome;
  /** Somebody asked that its job be cancelled, alone or with others. */
  cancelled: boolean;
  /** What became of a change of the queued input; null: none was asked for. */
  edited: 'taken' | 'refused' | null;
  withdrawn: 'taken' | 'refused' | null;
  reordered: boolean;
};

export type Outcome =
  | {
      kind: 'accepted';
      at: number;
      jobId: string;
      messageId: string | null;
      after: number;
      /** Of what is answered anew: the branch that was made for it. */
      branch: string | null;
    }
  /** Refused for good: `reject`, where something ran; any, where the worker was stopped. */
  | { kind: 'refused'; code: string; at: number }
  | { kind: 'pending' };

/** What a client was told of a job that had ended. */
export type Sighting = { jobId: string; status: JobStatus; outputId: string | null };

/** An interrupt that was asked for. `jobId`, `removed`: where the answer named them. */
export type Interrupt = {
  contextId: string;
  mode: 'discard' | 'rollback' | 'keep';
  jobId: string | null;
  removed: string[] | null;
};

/** By this process's clock, and by the one on the wall, which Postgres has too. In milliseconds. */
export type Moment = { at: number; wall: number };

/** A worker that was stopped and then started. An answer says in which state the worker is; null: there was none yet. */
export type Stop = {
  contextId: string;
  asked: Moment;
  stopped: (Moment & { said: string }) | null;
  startAsked: Moment | null;
  started: (Moment & { said: string }) | null;
};

/** An answer to a call, by the endpoint for that. `messageId`: what it will be in history, as a 202 said; null: refused. */
export type Reply = {
  contextId: string;
  callId: string;
  key: string;
  content: string;
  outcome: { kind: 'accepted'; jobId: string; messageId: string } | { kind: 'refused' } | { kind: 'pending' };
};

/** a decision on a call, by its client. `resolved`: the calls that a 200 named. */
export type PersonDecision = {
  contextId: string;
  callId: string;
  key: string;
  decision: 'approve' | 'deny';
  /** What it is to be run with instead; null: as the model asked. */
  word: string | null;
  remember: boolean;
  outcome: { kind: 'taken'; resolved: string[] } | { kind: 'refused' } | { kind: 'pending' };
};

/** What somebody said became of a call, and was taken. */
export type Said = { contextId: string; callId: string; outcome: 'happened' | 'did_not_happen' | 'tell' };

/** What was asked of branches and history. `branch` null: of a context as a whole. */
export type Change = {
  contextId: string;
  key: string;
  kind: 'create' | 'switch' | 'delete' | 'clear';
  branch: string | null;
  /** Of a new branch: it becomes the active one. */
  activates: boolean;
  outcome: 'taken' | 'refused' | 'pending';
};

/** Settings that somebody wrote over those of version `seen`. `version`: as it was answered; null: it was refused. */
export type Setting = {
  contextId: string;
  key: string;
  whole: boolean;
  config: Config;
  seen: number;
  version: number | null;
};

/** A compaction that somebody asked for. */
export type Compact = {
  contextId: string;
  key: string;
  jobId: string | null;
  outcome: 'taken' | 'refused' | 'pending';
};

/** An answer that no client should ever see. */
export type OddAnswer = { request: string; status: number; body: string };

export type ToldMessage = {
  id: string;
  seq: number | null;
  role: string;
  turn: string | null;
  content: unknown;
};

/** What the API says of a branch: of the whole of it (`length`), of its own part, and what it lists. */
export type ToldBranch = {
  name: string;
  active: boolean;
  length: number;
  messageCount: number;
  requestCount: number;
  inputTokens: number;
  outputTokens: number;
  messages: ToldMessage[];
};

/** What the API says of a context, once all is at rest. */
export type Told = {
  contextId: string;
  state: string;
  messageCount: number;
  turnCount: number;
  requestCount: number;
  inputTokens: number;
  outputTokens: number;
  branches: ToldBranch[];
  jobs: { id: string; status: JobStatus; steps: number; output: string | null; code: string | null }[];
};

/** One event as a stream brought it. `seq` null: fleeting. */
export type StreamEvent = { seq: number | null; name: string; data: Record<string, unknown> };

/** All that one client of a context's stream was sent, over all its connections. */
export type Stream = {
  client: string;
  contextId: string;
  /** It has to see everything after this number; null: it began with what was live, and nothing came. */
  from: number | null;
  connections: number;
  events: StreamEvent[];
  /** For each event: by which connection it came. */
  connection: number[];
  /** It was given the time to catch up, and did not. */
  behind: boolean;
};

export type Replay = { contextId: string; events: StreamEvent[] };

/** Something that processes did and must not do. */
export type Incident = { process: string; what: string; lines: string[] };

export type World = {
  inputs: Posted[];
  sightings: Sighting[];
  interrupts: Interrupt[];
  stops: Stop[];
  replies: Reply[];
  decisions: PersonDecision[];
  said: Said[];
  changes: Change[];
  settings: Setting[];
  compacts: Compact[];
  odd: OddAnswer[];
  /** What was still not at rest when the time was up. */
  unsettled: string[];
  contexts: StoredContext[];
  branches: StoredBranch[];
  compactions: StoredCompaction[];
  jobs: StoredJob[];
  messages: StoredMessage[];
  events: StoredEvent[];
  calls: StoredCall[];
  outside: Outside[];
  told: Told[];
  /** Keys whose answer under a repeat was not the first one. */
  repeats: { tag: string; first: string; again: string }[];
  streams: Stream[];
  replays: Replay[];
  incidents: Incident[];
};

export type Violation = {
  check: string;
  what: string;
  contextId: string | null;
  /** Jobs, messages, calls, keys: whatever it is about. */
  ids: string[];
};

export type Check = { name: string; find(world: World): Violation[] };

export function isEnded(status: JobStatus): status is FinishedStatus {
  return status !== 'queued' && status !== 'running' && status !== 'waiting';
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
