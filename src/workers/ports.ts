/** What a worker process is given. */
import type { Logger } from 'pino';
import type { Ended } from '../commands/end-barren.ts';
import type { Bus } from '../bus/bus.ts';
import type { Append, AppendOutcome } from '../core/append.ts';
import type { ContextId, ProcessId, RunIds } from '../core/ids.ts';
import type { Model, ProviderName } from '../core/model.ts';
import type { Serving } from '../core/settings.ts';
import type { Mailbox, Snapshot } from '../core/snapshot.ts';
import type { Millis } from '../core/time.ts';
import type { ToolRunner } from '../core/tool.ts';
import type { Database } from '../db/client.ts';
import type { WorkerDefinition } from '../db/mailbox.ts';
import type { LeaseTimes } from '../db/processes.ts';
import type { Bell, Queue } from '../queue/doorbell.ts';
import type { Appender } from './appender.ts';
import type { Audience } from './audience.ts';
import type { DatabaseClock } from './clock.ts';
import type { Gates } from './gates.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Registry } from './registry.ts';

/** What this process can serve. */
export type Abilities = {
  model(provider: ProviderName): Model | null;
  /** Names the key that a provider is called with, alike in every process that has it; holds none. */
  keyId(provider: ProviderName): string;
  tools: ToolRunner;
  resolve(worker: WorkerDefinition): Serving;
  published: { tools: string[]; roles: string[]; models: string[] };
};

export type WorkerTimes = LeaseTimes & {
  beatMs: number;
  sweepMs: number;
  stopGraceMs: number;
  /** From SIGTERM to the end of everything, in milliseconds. */
  drainMs: number;
};

export type WorkerPorts = {
  database: Database;
  /** A connection of its own, for beats. */
  openBeatConnection(): Database;
  queue: Queue;
  bell: Bell;
  bus: Bus;
  ids: RunIds;
  abilities: Abilities;
  times: WorkerTimes;
  log: Logger;
  random(): number;
};

/** What is to be claimed, by whom; `counted`: the epoch under which a sweep has counted the claim; null: nobody has. */
export type Claim = { contextId: ContextId; owner: ProcessId; counted: number | null };

/** What this process cannot serve, as of what stood in its mailbox. */
export type Left = { kind: 'left'; mailbox: Mailbox; at: Millis };

/** `began`: what was appended to begin or resume a job; null where there was nothing to begin. */
export type Opened = {
  kind: 'opened';
  snapshot: Snapshot;
  began: { move: Append; outcome: Extract<AppendOutcome, { kind: 'committed' }> } | null;
};

export type Claimed = Opened | Left | Ended;

/** Null: the doorbell was surplus. */
export type Claimer = (claim: Claim) => Promise<Claimed | null>;

/** What the parts of a running worker process share. */
export type WorkerState = WorkerPorts & {
  appender: Appender;
  claimer: Claimer;
  registry: Registry;
  audience: Audience;
  clock: DatabaseClock;
  gates: Gates;
  metrics: WorkerMetrics;
  /** This incarnation; null while it has none: nothing is claimed then. */
  identity(): ProcessId | null;
};
