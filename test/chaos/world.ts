// All that is known at the end of a run: what clients did and were told, what is stored, what the API says of it, what
// happened outside. The checks look at nothing else.
import type { Block } from '../../src/core/blocks.ts';
import type { FinishedStatus, JobStatus } from '../../src/core/job.ts';
import type { MessageRole } from '../../src/core/message.ts';
import type { Outside } from '../e2e/outside-tools.ts';
import type { Script } from './inputs.ts';

/** What one client posted. Times are of this process's clock, in milliseconds. */
export type Posted = {
  tag: string;
  key: string;
  contextId: string;
  delivery: 'queue' | 'reject' | 'steer' | 'interrupt';
  priority: number;
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
  | { kind: 'accepted'; at: number; jobId: string; messageId: string | null; after: number }
  /** Refused for good: `reject`, where something ran. */
  | { kind: 'refused'; code: string }
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

/** An answer that no client should ever see. */
export type OddAnswer = { request: string; status: number; body: string };

export type StoredContext = {
  id: string;
  status: string;
  state: string;
  head_seq: number;
  lease_owner: string | null;
  sweep_at: number | null;
  queued: number;
  steers: number;
  barren_claims: number;
  message_count: number;
  turn_count: number;
  request_count: number;
  input_tokens: number;
  output_tokens: number;
};

/** Times in milliseconds since 1970. */
export type StoredJob = {
  id: string;
  context_id: string;
  kind: string;
  status: JobStatus;
  priority: number;
  position: number;
  message_id: string | null;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  output_message_id: string | null;
  error_code: string | null;
  stop_kind: string | null;
  stop_mode: string | null;
  stop_requested_at: number | null;
  stop_delivered_at: number | null;
  stopped_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  created_at: number;
};

export type StoredMessage = {
  id: string;
  context_id: string;
  seq: number | null;
  role: MessageRole;
  type: string;
  turn: string | null;
  status: 'queued' | 'completed' | 'retracted' | 'withdrawn';
  content: Block[];
  job_id: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  /** Of an answer: which of the job's attempts it is. */
  attempt: number | null;
  completed_at: number | null;
};

export type StoredEvent = {
  context_id: string;
  seq: number;
  name: string;
  data: Record<string, unknown>;
};

export type StoredCall = {
  id: string;
  context_id: string;
  job_id: string;
  message_id: string;
  name: string;
  effect: 'none' | 'idempotent' | 'once';
  status: 'pending' | 'started' | 'completed' | 'failed' | 'cancelled' | 'unknown';
  started_at: number | null;
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
  messages: { id: string; seq: number | null; role: string; turn: string | null; content: unknown }[];
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
  odd: OddAnswer[];
  /** What was still not at rest when the time was up. */
  unsettled: string[];
  contexts: StoredContext[];
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
